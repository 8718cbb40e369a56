import type { Insertable } from 'kysely';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createPublisher } from '#server/platform/event-queues/publish-events.js';
import { QueueListener, queueNotifier } from '#server/platform/event-queues/queue-listeners.js';
import { noteServerStart } from '#server/platform/event-queues/server-start.js';
import type { ServerTables } from '#server/tables.js';
import { eachBackend } from '../../support/test-databases.js';
import { type Account, type Answer, ServerUnderTest } from './server-under-test.js';

const tables = ['event_queues', 'queued_events'] as const;

eachBackend((backend) => {
  let test: ServerUnderTest;
  let ada: Account;

  beforeEach(async () => {
    const databaseUrl = await backend.freshUrl();
    test = await ServerUnderTest.start({ databaseUrl, longPollTimeoutSeconds: 0.05 });
    ada = await test.addAccount('ada@example.com');
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    await test.close();
  });

  async function newQueue(): Promise<string> {
    return String((await test.ask(ada, 'POST', 'register')).body.queue_id);
  }

  async function poll(queueId: string, lastEventId: number, dontBlock = true): Promise<Answer> {
    const query = { queue_id: queueId, last_event_id: String(lastEventId), dont_block: String(dontBlock) };
    return test.ask(ada, 'GET', 'events', query);
  }

  async function makeEvents(count: number): Promise<void> {
    const { database } = test.server;
    const publish = createPublisher(queueNotifier(database.signals), () => test.now);
    for (let index = 0; index < count; index += 1) {
      const event = { event: { type: 'restart' }, audience: [ada.userId] };
      await database.write((transaction) => publish(transaction, [event]));
    }
  }

  const idsOf = ({ body }: Answer) => (body.events as { id: number }[]).map(({ id }) => id);
  const ended = expect.objectContaining({
    status: 400,
    body: expect.objectContaining({ code: 'BAD_EVENT_QUEUE_ID' }),
  });

  async function restart(): Promise<void> {
    await test.stop();
    await test.boot();
  }

  /** Backs up the event queues. Returns a function that restores the backup and restarts the server. */
  async function backUp(): Promise<() => Promise<void>> {
    const copies = new Map<string, object[]>();
    for (const table of tables) {
      copies.set(table, await test.server.database.db.selectFrom(table).selectAll().execute());
    }
    return async () => {
      await test.server.database.write(async ({ db }) => {
        for (const table of tables.toReversed()) await db.deleteFrom(table).execute();
        for (const table of tables) {
          const rows = copies.get(table) as Insertable<ServerTables[typeof table]>[];
          if (rows.length > 0) await db.insertInto(table).values(rows).execute();
        }
      });
      await restart();
    };
  }

  describe('an event queue after a database restore', () => {
    it('ends for a client that is ahead of the queue, even if new events arrive before the client polls', async () => {
      const queue = await newQueue();
      await makeEvents(1);
      const restore = await backUp();
      await makeEvents(2);
      expect(idsOf(await poll(queue, -1))).toEqual([0, 1, 2]);
      await restore();
      await makeEvents(5);
      expect(await poll(queue, 2)).toEqual(ended);
      expect(await poll(queue, 2, false)).toEqual(ended);
    });

    it('ends for a client that polls before there is any other event', async () => {
      const queue = await newQueue();
      const restore = await backUp();
      await makeEvents(1);
      expect(idsOf(await poll(queue, -1))).toEqual([0]);
      await restore();
      expect(await poll(queue, 0)).toEqual(ended);
    });

    it('ends for a client that was offline during further restarts', async () => {
      const queue = await newQueue();
      const restore = await backUp();
      await makeEvents(1);
      expect(idsOf(await poll(queue, -1))).toEqual([0]);
      await restore();
      await makeEvents(2);
      await restart();
      await makeEvents(1);
      expect(await poll(queue, 0)).toEqual(ended);
    });

    it('continues without gaps for a client that is not ahead of the queue', async () => {
      const queue = await newQueue();
      await makeEvents(2);
      expect(idsOf(await poll(queue, -1))).toEqual([0, 1]);
      const restore = await backUp();
      await makeEvents(1);
      await restore();
      await makeEvents(2);
      expect(idsOf(await poll(queue, 1))).toEqual([2, 3]);
      expect(idsOf(await poll(queue, 3))).toEqual([]);
      await makeEvents(1);
      expect(idsOf(await poll(queue, 3))).toEqual([4]);
    });
  });

  describe('an event queue after an ordinary restart', () => {
    it('continues for a client that has all its events', async () => {
      const queue = await newQueue();
      await makeEvents(2);
      expect(idsOf(await poll(queue, -1))).toEqual([0, 1]);
      await restart();
      await restart();
      expect(idsOf(await poll(queue, 1))).toEqual([]);
      const beyond = await poll(queue, 2);
      expect([beyond.status, beyond.body.code]).toEqual([400, 'BAD_REQUEST']);
      await makeEvents(1);
      expect(idsOf(await poll(queue, 1))).toEqual([2]);
    });

    it.each([
      ['events', 'notified', 1],
      ['events without a signal', 'timed-out', 1],
      ['a heartbeat', 'timed-out', 0],
    ] as const)(
      'continues for a client that got %s from another process meanwhile',
      async (_, end, count) => {
        const queue = await newQueue();
        vi.spyOn(QueueListener.prototype, 'wait').mockImplementationOnce(async () => {
          await noteServerStart(test.server.database);
          await makeEvents(count);
          return end;
        });
        expect(idsOf(await poll(queue, -1, false))).toEqual([0]);
        expect(idsOf(await poll(queue, 0))).toEqual([]);
      },
    );

    it('continues for a client that gets a response without waiting', async () => {
      const queue = await newQueue();
      await noteServerStart(test.server.database);
      await makeEvents(1);
      expect(idsOf(await poll(queue, -1))).toEqual([0]);
      expect(idsOf(await poll(queue, 0))).toEqual([]);
    });
  });
});
