import type { ServerContext } from '../../context.js';
import { applyUserChange, eventsOfUserChange } from '../../people/users/user-change.js';
import { lockBotsAbove, type UserDetails } from '../../people/users/user-details.js';
import { roles } from '../../platform/authentication/roles.js';
import type { ServerTransaction } from '../../tables.js';
import { revokeInvitationsOf } from '../invitations/revoke-invitations-of.js';

/**
 * Reduces the rights of a demoted, locked user to the new role. Revokes the user's invitations with a higher role
 * (all invitations if the user becomes a guest) and lowers the role of the user's bots, including deactivated bots.
 * Otherwise the user could still administer the organization through these invitations and bots. Publishes events for
 * both. The caller must hold the lock on groups.
 */
export async function limitToRole(
  context: Pick<ServerContext, 'clock' | 'publish' | 'realm'>,
  transaction: ServerTransaction,
  { id, role }: UserDetails,
): Promise<void> {
  const { clock, publish, realm } = context;
  const above = role === roles.guest ? undefined : role;
  await revokeInvitationsOf(context, transaction, id, { above });
  for (const bot of await lockBotsAbove(transaction, id, role)) {
    const change = { userId: bot.id, role };
    const done = await applyUserChange(transaction, bot, change, clock());
    await publish(transaction, eventsOfUserChange(transaction.db, { change, ...done, realm }));
  }
}
