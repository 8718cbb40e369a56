import type { UserId } from '@waxwing/protocol';
import { deleteSignInKeys } from '../authentication/sign-in-key-store.js';
import type { ServerContext } from '../context.js';
import { revokeInvitationsOf } from '../invitations/revoke-invitations-of.js';
import type { ServerTransaction } from '../tables.js';

/** What a user's access is ended with. */
export type AccessContext = Pick<ServerContext, 'clock' | 'publish'>;

/**
 * Ends what a locked user, or a thief of their key or password, left behind: API keys from signing in, event queues
 * together with the polls that wait for them, and invitations. Returns how many invitations were revoked. The key that the
 * user was made with is the caller's to replace.
 */
export async function endAccess(
  context: AccessContext,
  transaction: ServerTransaction,
  userId: UserId,
): Promise<number> {
  await deleteSignInKeys(transaction.db, userId);
  await context.publish(transaction, [
    { event: { type: 'realm_user' }, audience: [userId], endsQueues: true },
  ]);
  return revokeInvitationsOf(context, transaction, userId);
}
