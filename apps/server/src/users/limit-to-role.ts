import type { ServerContext } from '../context.js';
import { revokeInvitationsOf } from '../invitations/revoke-invitations-of.js';
import { roles } from '../permissions/roles.js';
import type { ServerTransaction } from '../tables.js';
import { applyUserChange, eventsOfUserChange } from './user-change.js';
import { lockBotsAbove, type UserDetails } from './user-details.js';

/**
 * Takes from a locked user who was demoted what gives more than the new role: invitations, all of a guest's, are revoked,
 * and bots that belong to the user get the new role, deactivated ones too. Otherwise the user would administer the
 * organisation through them. Publishes both. The caller holds the groups.
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
    await publish(transaction, await eventsOfUserChange(transaction.db, { change, ...done, realm }));
  }
}
