import { everybody } from '../event-queues/everybody.js';
import type { ServerPublish } from '../event-queues/publish-events.js';
import type { ServerTransaction } from '../tables.js';
import { readPlaygrounds } from './playground-store.js';

/** What must not change between the change that is told of and the list that is told. */
export const playgroundsLock = 'playgrounds';

/** Tells everybody which playgrounds there are now. */
export async function tellPlaygrounds(publish: ServerPublish, transaction: ServerTransaction): Promise<void> {
  const event = { type: 'realm_playgrounds', realm_playgrounds: await readPlaygrounds(transaction.db) };
  await publish(transaction, [{ event, audience: await everybody(transaction.db) }]);
}
