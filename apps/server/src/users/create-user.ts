import { refused } from '@waxwing/protocol';
import type { PushRealm } from '@waxwing/server-push';
import { storePassword } from '../authentication/password-store.js';
import { everybody } from '../event-queues/everybody.js';
import type { ServerPublish } from '../event-queues/publish-events.js';
import { memberEvents } from '../groups/member-events.js';
import { settleRoleGroups } from '../groups/settle-role-groups.js';
import { holdGroups } from '../permissions/hold-groups.js';
import { readRealmSetting } from '../realm/realm-setting-store.js';
import type { ServerTransaction } from '../tables.js';
import { idOfDummyAddress } from './address-visibility.js';
import { isEmailAddress, requireOwnAddress } from './email-address.js';
import { checkedFullName, fullNameTaken } from './full-name.js';
import { findDetails, type UserDetails } from './user-details.js';
import { eventsOfNewUser } from './user-events.js';
import { isNameTaken } from './user-facts.js';
import { insertUser, type NewUser, type User } from './user-store.js';

/** Somebody who is to be a user from now on. */
export interface UserToCreate extends NewUser {
  /** As `hashPassword` writes it, outside the transaction, for it takes long; nobody signs in with none. */
  readonly passwordHash?: string | undefined;
}

interface Surroundings {
  readonly publish: ServerPublish;
  readonly realm: Pick<PushRealm, 'url'>;
  /** Unix milliseconds. */
  readonly now: number;
}

/**
 * Makes a user or a bot, whoever asks for it: with the groups of its role, and told to everybody who may know of it. The
 * name is held to the rules that changing it has.
 * @throws ProtocolError BAD_REQUEST for an address that is not one, is taken or that no user can have, and for such a name.
 */
export async function createUser(
  transaction: ServerTransaction,
  { publish, realm, now }: Surroundings,
  { passwordHash, ...wanted }: UserToCreate,
): Promise<User> {
  const { db } = transaction;
  await holdGroups(transaction);
  const { email } = wanted;
  if (!isEmailAddress(email) || idOfDummyAddress(email, realm) !== undefined) {
    throw refused('This is not an e-mail address that a user can have.');
  }
  requireOwnAddress(email);
  const fullName = checkedFullName(wanted.fullName);
  if (await isNameTaken(db, undefined, fullName)) throw fullNameTaken();
  const id = await insertUser(db, { ...wanted, fullName }, now);
  if (id === undefined) throw refused(`There is a user with the address ${email} already.`);
  if (passwordHash !== undefined) await storePassword(db, id, passwordHash);
  const waitingPeriodDays = await readRealmSetting(db, 'waiting_period_threshold');
  const memberships = await settleRoleGroups(db, { userIds: [id], waitingPeriodDays, now });
  await publish(
    transaction,
    await eventsOfNewUser(db, await detailsOf(transaction, { ...wanted, id }), realm),
  );
  const audience = await everybody(db);
  await publish(
    transaction,
    memberEvents(memberships).map((event) => ({ event, audience })),
  );
  const { apiKeyHash: _, ...user } = wanted;
  return { ...user, fullName, id };
}

async function detailsOf({ db }: ServerTransaction, user: Pick<User, 'id' | 'role'>): Promise<UserDetails> {
  const found = await findDetails(db, { kind: 'id', id: user.id }, user);
  if (found === undefined) throw new Error('the user that was just made has no row');
  return found;
}
