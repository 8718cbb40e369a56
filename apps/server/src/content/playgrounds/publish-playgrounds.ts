import type { ServerPublish } from '../../platform/event-queues/published-event.js';
import type { ServerTransaction } from '../../tables.js';
import { readPlaygrounds } from './playground-store.js';

/** Name of the lock that serializes changes to playgrounds, so that the published list never misses a change. */
export const playgroundsLock = 'playgrounds';

/** Publishes the current playgrounds to all users. */
export async function publishPlaygrounds(
  publish: ServerPublish,
  transaction: ServerTransaction,
): Promise<void> {
  const event = { type: 'realm_playgrounds', realm_playgrounds: await readPlaygrounds(transaction.db) };
  await publish(transaction, [{ event, audience: 'everyone' }]);
}
