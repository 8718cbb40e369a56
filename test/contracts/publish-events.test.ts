import type { AddressedEvent } from '@waxwing/server-push';
import { beforeEach, describe, expect, it } from 'vitest';
import { eventsAfter, insertQueue } from '#server/platform/event-queues/event-queue-store.js';
import { createPublisher } from '#server/platform/event-queues/publish-events.js';
import { QueueListeners } from '#server/platform/event-queues/queue-listeners.js';
import { removeUnusedTexts } from '#server/platform/event-queues/remove-idle-queues.js';
import { type ServerDatabase, type ServerTables, serverMigrations } from '#server/tables.js';
import { userId } from '../support/ids.js';
import { observeQueries } from '../support/observe-queries.js';
import { eachBackend } from '../support/test-databases.js';

const now = 1_773_000_000_000;
const clock = () => now;

eachBackend((backend) => {
  let database: ServerDatabase;
  let listeners: QueueListeners;

  beforeEach(async () => {
    database = await backend.open<ServerTables>({ migrations: serverMigrations, now: clock });
    listeners = await QueueListeners.open(database.signals);
  });

  const addQueues = (numbers: readonly number[], eventTypes?: readonly string[]) =>
    database.write(async ({ db }) => {
      for (const number of numbers) {
        await insertQueue(
          db,
          {
            queueId: `${number} ${eventTypes ?? ''}`,
            userId: userId(number),
            eventTypes,
            capabilities: [],
            appliesMarkdown: false,
            makesAvatars: true,
            hasAllPublicChannels: false,
            narrow: null,
            lifetimeMilliseconds: 600_000,
          },
          now,
        );
      }
    });
  const publish = async (...batches: readonly (readonly AddressedEvent[])[]) => {
    const publisher = createPublisher(listeners, clock);
    await database.write(async (transaction) => {
      for (const events of batches) await publisher(transaction, events);
    });
  };
  const typesIn = async (queueId: string) =>
    (await eventsAfter(database.db, queueId, -1)).events.map(({ id, type }) => `${id} ${type}`);
  const event = (type: string, ...audience: number[]): AddressedEvent => ({
    event: { type },
    audience: audience.map(userId),
  });

  describe('publishing', () => {
    it('adds each event once, in order, to the audience’s queues that accept its type', async () => {
      await addQueues([1, 2]);
      await addQueues([2], ['typing']);
      await publish([event('message', 1, 2, 2), event('typing', 2)], [event('realm', 1)]);
      await publish([event('message', 2)]);
      expect(await typesIn('1 ')).toEqual(['0 message', '1 realm']);
      expect(await typesIn('2 ')).toEqual(['0 message', '1 typing', '2 message']);
      expect(await typesIn('2 typing')).toEqual(['0 typing']);
    });

    it('stores an event’s text once for all queues, until no queue needs the text', async () => {
      await addQueues([1, 2, 3]);
      // Only one queue gets both events. Each event's text is stored once.
      await publish([event('message', 1, 2, 3), event('typing', 3)]);
      const texts = () => database.db.selectFrom('event_texts').selectAll().execute();
      expect(await texts()).toHaveLength(2);
      const clean = () => removeUnusedTexts({ clock, database }, new AbortController().signal);
      expect(await clean()).toBe(0);
      await database.write(({ db }) => db.deleteFrom('event_queues').execute());
      expect(await clean()).toBe(2);
      expect(await texts()).toEqual([]);
    });

    it('uses the same number of statements for 300 queues and 30 events as for one of each', async () => {
      const userIds = Array.from({ length: 300 }, (_, index) => index + 1);
      await addQueues(userIds);
      const statements = async (events: readonly AddressedEvent[]) => {
        let count = 0;
        const publisher = createPublisher(listeners, clock);
        let stop = (): void => undefined;
        const writing = database.write(async (transaction) => {
          await publisher(transaction, events);
          stop = observeQueries(database.db, () => {
            count += 1;
          });
        });
        await writing.finally(() => stop());
        return count;
      };
      const one = await statements([event('message', 1)]);
      const many = Array.from({ length: 30 }, (_, index) => event(`type ${index}`, ...userIds));
      expect(await statements(many)).toBe(one);
      expect(one).toBeGreaterThan(0);
      expect(await typesIn('300 ')).toHaveLength(30);
    });

    it('deletes only queues with a thousand pending events', async () => {
      await addQueues([1, 2]);
      const many = Array.from({ length: 1000 }, () => event('message', 1));
      await publish([...many, event('message', 2)]);
      await publish([event('message', 1, 2)]);
      expect(await typesIn('2 ')).toEqual(['0 message', '1 message']);
      const left = await database.db.selectFrom('event_queues').select('queue_id').execute();
      expect(left).toEqual([{ queue_id: '2 ' }]);
    });

    it('delivers any text unchanged', async () => {
      await addQueues([1]);
      const content = 'nul \0, quote " and \\u0000, emoji 🐦, half of one \ud83d';
      await publish([{ event: { type: 'message', content }, audience: [userId(1)] }]);
      expect((await eventsAfter(database.db, '1 ', -1)).events).toEqual([
        { id: 0, type: 'message', content },
      ]);
    });

    it('neither loses events nor deadlocks when transactions publish concurrently for the same users', async () => {
      const userIds = Array.from({ length: 20 }, (_, index) => index + 1);
      await addQueues(userIds);
      const some = (index: number) => (index % 2 === 0 ? userIds : [...userIds].reverse());
      await Promise.all(
        Array.from({ length: 200 }, (_, index) => publish([event(`${index}`, ...some(index))])),
      );
      for (const number of userIds) expect(await typesIn(`${number} `)).toHaveLength(200);
    });
  });
});
