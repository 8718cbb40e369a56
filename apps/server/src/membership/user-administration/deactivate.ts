import { refused, type UserId } from '@waxwing/protocol';
import type { UserDetails } from '../../people/users/user-details.js';
import { isOnlyOwner } from '../../people/users/user-facts.js';
import { storeInactive } from '../../people/users/user-store.js';
import type { ServerTransaction } from '../../tables.js';
import { publishActivity } from './activity-events.js';
import { type AccessContext, replaceApiKey } from './end-access.js';

/** The result of {@link deactivate}. */
export interface Deactivation {
  /** The user and its bots. */
  readonly userIds: readonly UserId[];
  readonly revokedInvitations: number;
}

/**
 * Deactivates a locked user and their bots. Revokes their keys and invitations, ends their event queues, removes
 * their push devices, and publishes events to users who can see them. The caller must hold the lock on groups.
 * @throws ProtocolError BAD_REQUEST for an inactive user, and for the only owner.
 */
export async function deactivate(
  context: AccessContext,
  transaction: ServerTransaction,
  target: UserDetails,
): Promise<Deactivation> {
  const { db } = transaction;
  if (!target.isActive) throw refused('User is deactivated');
  if (await isOnlyOwner(db, target)) throw refused('Cannot deactivate the only organization owner');
  const gone = await storeInactive(db, target.id);
  let revokedInvitations = 0;
  for (const { id } of gone) {
    // Replaces the keys, so that the old keys stay invalid after a reactivation. No client gets the new key.
    const replaced = await replaceApiKey(context, transaction, id);
    revokedInvitations += replaced.revokedInvitations;
  }
  await publishActivity(context, transaction, gone, false);
  return { userIds: gone.map(({ id }) => id), revokedInvitations };
}
