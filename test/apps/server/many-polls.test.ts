import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Account, type Answer, ServerUnderTest } from './server-under-test.js';

let test: ServerUnderTest;
let ada: Account;
let bob: Account;

beforeEach(async () => {
  const http = { maximumRequestsInFlight: 4, maximumRequestsPerActor: 3 };
  test = await ServerUnderTest.start({ longPollTimeoutSeconds: 60, withoutRelay: true, http });
  ada = await test.addAccount('ada@example.com');
  bob = await test.addAccount('bob@example.com');
});
afterEach(() => test.close());

async function newQueue(account: Account): Promise<string> {
  return String((await test.ask(account, 'POST', 'register')).body.queue_id);
}

function poll(account: Account, queueId: string): Promise<Answer> {
  return test.ask(account, 'GET', 'events', { queue_id: queueId, last_event_id: '-1' });
}

async function requestsInFlight(): Promise<number> {
  const text = await test.server.metrics.text();
  return Number(/^waxwing_http_requests_in_flight (\d+)$/m.exec(text)?.[1]);
}

describe('a user with many polls', () => {
  it('has one poll per queue at a time: a newer poll ends the older poll', async () => {
    const queue = await newQueue(ada);
    const polls = Array.from({ length: 50 }, () => poll(ada, queue));
    const answers = await Promise.all(polls.slice(0, -1));
    expect(answers.map(({ status, body }) => [status, body.events])).toEqual(
      Array.from({ length: 49 }, () => [200, []]),
    );
    expect(await requestsInFlight()).toBe(1);
    expect(await newQueue(bob)).toMatch(/^[0-9a-f-]{36}$/);
    await test.stop();
    expect((await polls.at(-1))?.body.events).toEqual([]);
  });

  it('is refused at the limit of polls on several queues, while other users are not', async () => {
    const queues = [await newQueue(ada), await newQueue(ada), await newQueue(ada), await newQueue(ada)];
    const [last = '', ...waiting] = queues.reverse();
    const polls = waiting.map((queue) => poll(ada, queue));
    await expect.poll(requestsInFlight).toBe(3);
    const refused = await poll(ada, last);
    expect([refused.status, refused.headers['retry-after'], refused.body]).toEqual([
      429,
      '1',
      {
        result: 'error',
        msg: 'Too many requests at once: wait for answers before you send more',
        code: 'RATE_LIMIT_HIT',
        'retry-after': 1,
      },
    ]);
    expect(await newQueue(bob)).toMatch(/^[0-9a-f-]{36}$/);
    await test.stop();
    for (const answer of await Promise.all(polls)) expect(answer.body.events).toEqual([]);
  });

  it('can still read a queue without waiting while a poll waits on the queue', async () => {
    const queue = await newQueue(ada);
    const waiting = poll(ada, queue);
    await expect.poll(requestsInFlight).toBe(1);
    const query = { queue_id: queue, last_event_id: '-1', dont_block: 'true' };
    expect((await test.ask(ada, 'GET', 'events', query)).body.events).toEqual([]);
    expect(await requestsInFlight()).toBe(1);
    await test.stop();
    await waiting;
  });
});
