import { refused } from '@waxwing/protocol';
import type { Transaction } from 'kysely';
import type { UserDetails } from '../../people/users/user-details.js';
import { isAddressTaken, isNameTaken } from '../../people/users/user-facts.js';
import type { ServerTables, ServerTransaction } from '../../tables.js';
import { publishActivity } from './activity-events.js';
import type { AccessContext } from './end-access.js';

/**
 * Reactivates a locked user or bot in its former channels and groups, and publishes events to users who can see it.
 * The user's password stays valid, but the API keys do not. The caller must hold the lock on groups.
 * @throws ProtocolError BAD_REQUEST for an active user, a taken address or name, and a bot whose owner is inactive.
 */
export async function reactivate(
  context: Pick<AccessContext, 'publish'>,
  transaction: ServerTransaction,
  target: UserDetails,
): Promise<void> {
  const { db } = transaction;
  if (target.isActive) throw refused('User is already active');
  if (await isAddressTaken(db, target.id, target.email)) {
    throw refused('Another user has the same e-mail address: change one of the addresses first.');
  }
  if (await isNameTaken(db, target.id, target.fullName)) {
    throw refused('Unique names required in this organization: rename the other user with this name first.');
  }
  if (await hasInactiveOwner(db, target)) {
    throw refused('The owner of this bot is deactivated: reactivate the owner first.');
  }
  await db.updateTable('users').set({ is_active: 1 }).where('id', '=', target.id).execute();
  await publishActivity(context, transaction, [target], true);
}

async function hasInactiveOwner(
  db: Transaction<ServerTables>,
  { botOwnerId }: UserDetails,
): Promise<boolean> {
  if (botOwnerId === undefined) return false;
  const owner = db.selectFrom('users').select('id').where('id', '=', botOwnerId);
  return (await owner.where('is_active', '=', 0).executeTakeFirst()) !== undefined;
}
