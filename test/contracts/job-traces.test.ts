import { currentTraceparent, startTracing } from '@waxwing/service/tracing';
import { expect, it } from 'vitest';
import type { DurableJobQueue } from '#jobs/durable-job-queue.js';
import { inRequestSpan } from '#service/tracing/spans.js';
import { idle } from '../support/idle.js';
import { add, handler, open, start } from '../support/job-queue-under-test.js';
import { eachBackend } from '../support/test-databases.js';

eachBackend((backend) => {
  it('a job does not join the trace of the request that woke the queue', async () => {
    // No collector listens at this address, so the spans are lost.
    const tracing = await startTracing(
      { url: 'http://127.0.0.1:9/v1/traces', percent: 100, setting: 'TEST_TRACES_URL' },
      { name: 'waxwing-test', version: '0.1.0' },
    );
    const clock = { now: start };
    const database = await open(backend, clock);
    const traces: (string | undefined)[] = [];
    database.jobs.handle(
      'k',
      handler(async () => {
        traces.push(currentTraceparent());
        return { kind: 'done' };
      }),
    );
    await database.jobs.start();
    await add(database, 'payload', { runAt: start + 60_000 });
    await idle(database.jobs);
    clock.now += 60_000;
    const wake = () => {
      expect(currentTraceparent()).toBeDefined();
      (database.jobs as DurableJobQueue).runner.wake(['k']);
    };
    await inRequestSpan('POST /x', undefined, wake, () => true);
    await expect.poll(() => traces).toEqual([undefined]);
    await tracing.close();
  });
});
