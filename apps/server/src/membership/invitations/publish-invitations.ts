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
  const event = { type: 'invites_changed' };
  await publish(transaction, {
    types: [event.type],
    build(owners) {
      const readers = owners.filter(({ id, role }) => id === inviterId || role <= roles.administrator);
      return [{ event, audience: readers.map(({ id }) => id) }];
    },
  });
}
