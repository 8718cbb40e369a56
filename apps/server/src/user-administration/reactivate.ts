import { refused } from '@waxwing/protocol';
import type { Transaction } from 'kysely';
import type { ServerTables, ServerTransaction } from '../tables.js';
import type { UserDetails } from '../users/user-details.js';
import { isAddressTaken, isNameTaken } from '../users/user-facts.js';
import { eventsOfActivityEverywhere } from './activity-events.js';
import type { ActivityContext } from './deactivate.js';

/**
 * Makes a locked user or bot active again, in the channels and groups where it was, and tells whoever may know of it. It
 * signs in with the password that it had; none of its keys is good. The caller holds the groups.
 * @throws ProtocolError BAD_REQUEST for whoever is active, whose address or name is taken, and a bot whose owner is
 * inactive.
 */
export async function reactivate(
  { publish }: Pick<ActivityContext, 'publish'>,
  transaction: ServerTransaction,
  target: UserDetails,
): Promise<void> {
  const { db } = transaction;
  if (target.isActive) throw refused('User is already active');
  if (await isAddressTaken(db, target.id, target.email)) {
    throw refused(
      'Another user has the e-mail address of this user: give one of them another address first.',
    );
  }
  if (await isNameTaken(db, target.id, target.fullName)) {
    throw refused(
      'Unique names required in this organization: give the other user of this name another one first.',
    );
  }
  if (await hasInactiveOwner(db, target)) {
    throw refused('The owner of this bot is deactivated: reactivate the owner first.');
  }
  await db.updateTable('users').set({ is_active: 1 }).where('id', '=', target.id).execute();
  await publish(transaction, await eventsOfActivityEverywhere(db, [target], true));
}

async function hasInactiveOwner(
  db: Transaction<ServerTables>,
  { botOwnerId }: UserDetails,
): Promise<boolean> {
  if (botOwnerId === undefined) return false;
  const owner = db.selectFrom('users').select('id').where('id', '=', botOwnerId);
  return (await owner.where('is_active', '=', 0).executeTakeFirst()) !== undefined;
}
