import type { UserId } from '@waxwing/protocol';
import type { ServerContext } from '../../context.js';
import { roles } from '../../platform/authentication/roles.js';
import type { ServerTransaction } from '../../tables.js';

/** Publishes `invites_changed` to the inviter and all administrators. */
export async function publishInvitations(
  { publish }: Pick<ServerContext, 'publish'>,
  transaction: ServerTransaction,
  inviterId: UserId,
): Promise<void> {
  const readers = await transaction.db
    .selectFrom('users')
    .select('id')
    .where('is_active', '=', 1)
    .where((is) => is.or([is('id', '=', inviterId), is('role', '<=', roles.administrator)]))
    .execute();
  const event = { type: 'invites_changed' };
  await publish(transaction, [{ event, audience: readers.map(({ id }) => id) }]);
}
