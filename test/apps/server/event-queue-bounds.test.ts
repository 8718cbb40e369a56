import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { acknowledgeEvents } from '#server/platform/event-queues/event-queue-store.js';
import { registered } from '../../support/relay-stand-in.js';
import { type Account, ServerUnderTest, testPhone } from './server-under-test.js';

let test: ServerUnderTest;
let ada: Account;
beforeEach(async () => {
  test = await ServerUnderTest.start();
  test.relay.otherwise(registered(1));
  ada = await test.addAccount('ada@example.com');
});
afterEach(() => test.close());

const newQueue = async () => String((await test.ask(ada, 'POST', 'register')).body.queue_id);

describe('an event queue', () => {
  it.each([
    ['101 types', Array(101).fill('message')],
    ['a type of 101 characters', ['m'.repeat(101)]],
  ])('is not created for %s', async (_name, types) => {
    const { status, body } = await test.ask(ada, 'POST', 'register', { event_types: JSON.stringify(types) });
    expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
    expect(body.msg).toContain('event_types');
    const queues = test.server.database.db.selectFrom('event_queues').select('queue_id');
    expect(await queues.execute()).toEqual([]);
  });

  it('is created for 100 types of 100 characters', async () => {
    const types = Array(100).fill('m'.repeat(100));
    expect((await test.ask(ada, 'POST', 'register', { event_types: JSON.stringify(types) })).status).toBe(
      200,
    );
  });

  it('refuses to acknowledge future events, which would be lost otherwise', async () => {
    const queue = await newQueue();
    const ahead = { queue_id: queue, last_event_id: '5', dont_block: 'true' };
    const { status, body } = await test.ask(ada, 'GET', 'events', ahead);
    expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
    await test.register(ada, testPhone('1').fields);
    await test.settle();
    const next = await test.ask(ada, 'GET', 'events', { ...ahead, last_event_id: '-1' });
    expect(next.body.events).toMatchObject([{ id: 0, type: 'push_device' }]);
  });

  it('never reverts an acknowledgement when an older request arrives late', async () => {
    const queue = await newQueue();
    const { database } = test.server;
    for (const eventId of [5, 3]) {
      await database.write(({ db }) => acknowledgeEvents(db, queue, eventId, test.now));
    }
    const row = database.db.selectFrom('event_queues').select('acknowledged_event_id');
    expect(await row.execute()).toEqual([{ acknowledged_event_id: 5 }]);
  });
});
