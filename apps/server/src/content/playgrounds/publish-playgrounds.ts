import type { ServerPublish } from '../../platform/event-queues/published-event.js';
import type { ServerTransaction } from '../../tables.js';
import { readPlaygrounds } from './playground-store.js';

/** The name of the lock that serializes changes, so that the published list is consistent with them. */
export const playgroundsLock = 'playgrounds';

/** Publishes the current playgrounds to all users. */
export async function publishPlaygrounds(
  publish: ServerPublish,
  transaction: ServerTransaction,
): Promise<void> {
  const event = { type: 'realm_playgrounds', realm_playgrounds: await readPlaygrounds(transaction.db) };
  await publish(transaction, [{ event, audience: 'everyone' }]);
}
