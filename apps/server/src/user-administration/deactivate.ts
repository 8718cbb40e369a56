import { refused, type UserId } from '@waxwing/protocol';
import { removePushDevicesOf } from '@waxwing/server-push';
import { hashCredential } from '@waxwing/service/config';
import { generateApiKey } from '../authentication/api-key.js';
import { storeApiKeyHash } from '../authentication/credential-store.js';
import { deleteSignInKeys } from '../authentication/sign-in-key-store.js';
import type { ServerContext } from '../context.js';
import { deleteInvitationsOf } from '../invitations/invitation-store.js';
import { tellInvitations } from '../invitations/tell-invitations.js';
import type { ServerTransaction } from '../tables.js';
import type { UserDetails } from '../users/user-details.js';
import { isOnlyOwner } from '../users/user-facts.js';
import { storeInactive } from '../users/user-store.js';
import { eventsOfActivityEverywhere } from './activity-events.js';

/** What users are deactivated and reactivated with. */
export type ActivityContext = Pick<ServerContext, 'clock' | 'database' | 'publish'>;

/**
 * Deactivates a locked user and the bots that belong to it; the ids of all of them. Their keys, event queues, push devices
 * and invitations end, and whoever may know of them is told. The caller holds the groups.
 * @throws ProtocolError BAD_REQUEST for whoever is inactive already, and for the only owner.
 */
export async function deactivate(
  context: ActivityContext,
  transaction: ServerTransaction,
  target: UserDetails,
): Promise<readonly UserId[]> {
  const { db } = transaction;
  if (!target.isActive) throw refused('User is deactivated');
  if (await isOnlyOwner(db, target)) throw refused('Cannot deactivate the only organization owner');
  const gone = await storeInactive(db, target.id);
  for (const { id } of gone) await endAccess(context, transaction, id);
  const ids = gone.map(({ id }) => id);
  await context.publish(transaction, [
    ...(await eventsOfActivityEverywhere(db, gone, false)),
    { event: { type: 'realm_user' }, audience: ids, endsQueues: true },
  ]);
  return ids;
}

async function endAccess(
  context: ActivityContext,
  transaction: ServerTransaction,
  id: UserId,
): Promise<void> {
  const { db } = transaction;
  // Nobody knows this key: those that were given out stay revoked when the user is active again.
  await storeApiKeyHash(db, id, hashCredential(generateApiKey().reveal()));
  await deleteSignInKeys(db, id);
  await removePushDevicesOf(context.database, transaction, id, context.clock());
  if (await deleteInvitationsOf(db, id)) await tellInvitations(context, transaction, id);
}
