import { expect, it } from 'vitest';
import { createPublisher } from '#server/platform/event-queues/publish-events.js';
import type { EventsForOwners } from '#server/platform/event-queues/published-event.js';
import { queueNotifier } from '#server/platform/event-queues/queue-listeners.js';
import type { ServerTransaction } from '#server/tables.js';
import { eachPostgres } from '../../../support/test-databases.js';
import { sharedOrganisation } from '../organisation-under-test.js';

// PostgreSQL only: on SQLite, a queue cannot be registered while another write runs.
eachPostgres((postgres) => {
  const organisation = sharedOrganisation(postgres);

  /** Starts a change that builds its events before another user's queue is registered. */
  const changing = () => {
    const { database } = organisation.server.server;
    const publish = createPublisher(queueNotifier(database.signals), () => organisation.server.now);
    const asked: number[][] = [];
    let read = async (): Promise<unknown[]> => [];
    const events: EventsForOwners = {
      types: ['stream'],
      build(owners) {
        asked.push(owners.map(({ id }) => id));
        return [{ event: { type: 'stream' }, audience: owners.map(({ id }) => id) }];
      },
    };
    const change = async (transaction: ServerTransaction) => {
      await publish(transaction, events);
      if (asked.length === 1) read = await organisation.watch('member', { event_types: '["stream"]' });
    };
    return { asked, change, readEvents: () => read() };
  };

  it('a queue that is registered between a change and its commit gets the event exactly once', async () => {
    await organisation.watch('owner', { event_types: '["stream"]' });
    const { asked, change, readEvents } = changing();
    await organisation.server.server.database.writeSingle(change);
    expect(asked).toEqual([[organisation.id('owner')], [organisation.id('member')]]);
    expect(await readEvents()).toEqual([{ type: 'stream' }]);
  });

  it('writes that share a commit are retried one by one, and the queue gets the event exactly once', async () => {
    const { database } = organisation.server.server;
    await database.db.deleteFrom('event_queues').execute();
    await organisation.watch('owner', { event_types: '["stream"]' });
    const { asked, change, readEvents } = changing();
    let others = 0;
    const other = async () => {
      others += 1;
    };
    await Promise.all([database.write(other), database.write(change)]);
    const both = [organisation.id('owner'), organisation.id('member')].sort((a, b) => a - b);
    expect(asked).toEqual([[organisation.id('owner')], both]);
    expect(others).toBe(2);
    expect(await readEvents()).toEqual([{ type: 'stream' }]);
  });
});
