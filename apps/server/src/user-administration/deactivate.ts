import { refused, type UserId } from '@waxwing/protocol';
import { removePushDevicesOf } from '@waxwing/server-push';
import { hashCredential } from '@waxwing/service/config';
import { generateApiKey } from '../authentication/api-key.js';
import { storeApiKeyHash } from '../authentication/credential-store.js';
import type { ServerContext } from '../context.js';
import type { ServerTransaction } from '../tables.js';
import { endAccess } from '../users/end-access.js';
import type { UserDetails } from '../users/user-details.js';
import { isOnlyOwner } from '../users/user-facts.js';
import { storeInactive } from '../users/user-store.js';
import { eventsOfActivityEverywhere } from './activity-events.js';

/** What users are deactivated and reactivated with. */
export type ActivityContext = Pick<ServerContext, 'clock' | 'database' | 'publish'>;

/** What came of deactivating a user. */
export interface Deactivation {
  /** The user and the bots that belong to them. */
  readonly userIds: readonly UserId[];
  /** How many invitations were revoked. */
  readonly revokedInvitations: number;
}

/**
 * Deactivates a locked user and the bots that belong to it. Their keys, event queues, push devices and invitations end,
 * and whoever may know of them is told. The caller holds the groups.
 * @throws ProtocolError BAD_REQUEST for whoever is inactive already, and for the only owner.
 */
export async function deactivate(
  context: ActivityContext,
  transaction: ServerTransaction,
  target: UserDetails,
): Promise<Deactivation> {
  const { db } = transaction;
  if (!target.isActive) throw refused('User is deactivated');
  if (await isOnlyOwner(db, target)) throw refused('Cannot deactivate the only organization owner');
  const gone = await storeInactive(db, target.id);
  let revokedInvitations = 0;
  for (const { id } of gone) {
    // Nobody knows this key: those that were given out stay revoked when the user is active again.
    await storeApiKeyHash(db, id, hashCredential(generateApiKey().reveal()));
    await removePushDevicesOf(context.database, transaction, id, context.clock());
    revokedInvitations += await endAccess(context, transaction, id);
  }
  await context.publish(transaction, await eventsOfActivityEverywhere(db, gone, false));
  return { userIds: gone.map(({ id }) => id), revokedInvitations };
}
