import type { UserId } from '@waxwing/protocol';
import type { ServerContext } from '../../context.js';
import type { Role } from '../../platform/authentication/roles.js';
import type { ServerTransaction } from '../../tables.js';
import { publishInvitations } from './publish-invitations.js';

/**
 * Revokes all invitations of a locked user, or only the invitations with a role above `above`, and publishes an event.
 * Returns the number of revoked invitations that had not expired.
 */
export async function revokeInvitationsOf(
  context: Pick<ServerContext, 'clock' | 'publish'>,
  transaction: ServerTransaction,
  inviterId: UserId,
  { above }: { readonly above?: Role | undefined } = {},
): Promise<number> {
  const now = context.clock();
  const deleted = await transaction.db
    .deleteFrom('invitations')
    .where('inviter_id', '=', inviterId)
    .$if(above !== undefined, (query) => query.where('role', '<', above as Role))
    .returning('expires_at')
    .execute();
  const revoked = deleted.filter(({ expires_at: end }) => end === null || end > now).length;
  if (revoked > 0) await publishInvitations(context, transaction, inviterId);
  return revoked;
}
