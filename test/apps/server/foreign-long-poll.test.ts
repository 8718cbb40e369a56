import { afterEach, expect, it, vi } from 'vitest';
import { QueueListener } from '#server/platform/event-queues/queue-listeners.js';
import { ServerUnderTest } from './server-under-test.js';

afterEach(() => {
  vi.restoreAllMocks();
});

it('a long poll continues when another user’s request for its queue is refused', async () => {
  const test = await ServerUnderTest.start({ longPollTimeoutSeconds: 60 });
  const [ada, bert] = [await test.addAccount('ada@example.com'), await test.addAccount('bert@example.com')];
  const queue = String((await test.ask(ada, 'POST', 'register')).body.queue_id);
  const fields = { queue_id: queue, last_event_id: '-1' };
  const waits = vi.spyOn(QueueListener.prototype, 'wait');
  const answer = test.ask(ada, 'GET', 'events', fields);
  await expect.poll(() => waits.mock.calls).toHaveLength(1);
  const foreign = await test.ask(bert, 'GET', 'events', fields);
  expect(foreign.body.code).toBe('BAD_EVENT_QUEUE_ID');
  await test.addAccount('cleo@example.com');
  expect((await answer).body.events).toContainEqual(expect.objectContaining({ id: 0, type: 'realm_user' }));
  await test.close();
});
