import { refused } from '@waxwing/protocol';
import type { PushRealm } from '@waxwing/server-push';
import { storePassword } from '../../platform/authentication/password-store.js';
import type { ServerPublish } from '../../platform/event-queues/published-event.js';
import type { ServerTransaction } from '../../tables.js';
import { memberEvents } from '../groups/member-events.js';
import { settleRoleGroups } from '../groups/settle-role-groups.js';
import { lockGroups } from '../permissions/lock-groups.js';
import { readRealmSetting } from '../realm/realm-setting-store.js';
import { idOfDummyAddress } from './address-visibility.js';
import { isEmailAddress, requireOwnAddress } from './email-address.js';
import { checkedFullName, fullNameTaken } from './full-name.js';
import { findDetails, type UserDetails } from './user-details.js';
import { eventsOfNewUser } from './user-events.js';
import { isNameTaken } from './user-facts.js';
import { insertUser, type NewUser, type User } from './user-store.js';

export interface UserToCreate extends NewUser {
  /**
   * A result of `hashPassword`, computed outside the transaction because hashing is slow. If omitted, the user cannot
   * sign in with a password.
   */
  readonly passwordHash?: string | undefined;
}

interface NewUserContext {
  readonly publish: ServerPublish;
  readonly realm: Pick<PushRealm, 'url'>;
  /** Unix milliseconds. */
  readonly now: number;
}

/**
 * Creates a user or bot, adds it to the groups of its role, and publishes events to users who can see it. The name
 * follows the same rules as a name change.
 * @throws ProtocolError BAD_REQUEST for an address that is invalid, taken or reserved, and for an invalid name.
 */
export async function createUser(
  transaction: ServerTransaction,
  { publish, realm, now }: NewUserContext,
  { passwordHash, ...wanted }: UserToCreate,
): Promise<User> {
  const { db } = transaction;
  await lockGroups(transaction);
  const { email, fullName } = checkedIdentity(wanted, realm);
  if (await isNameTaken(db, undefined, fullName)) throw fullNameTaken();
  const id = await insertUser(db, { ...wanted, email, fullName }, now);
  if (id === undefined) throw refused(`A user with the address ${email} already exists.`);
  if (passwordHash !== undefined) await storePassword(db, id, passwordHash);
  const waitingPeriodDays = await readRealmSetting(db, 'waiting_period_threshold');
  const memberships = await settleRoleGroups(db, { userIds: [id], waitingPeriodDays, now });
  const details = await detailsOf(transaction, { ...wanted, id });
  await publish(transaction, eventsOfNewUser(db, details, realm));
  await publish(
    transaction,
    memberEvents(memberships).map((event) => ({ event, audience: 'everyone' as const })),
  );
  const { apiKeyHash: _, ...user } = wanted;
  return { ...user, email, fullName, id };
}

/**
 * Validates the address and name of a new user, and returns them in their stored form.
 * @throws ProtocolError BAD_REQUEST for an address that is invalid or reserved, and for an invalid name.
 */
export function checkedIdentity(
  wanted: Pick<NewUser, 'email' | 'fullName'>,
  realm: Pick<PushRealm, 'url'>,
): Pick<NewUser, 'email' | 'fullName'> {
  const email = wanted.email.normalize('NFC');
  requireOwnAddress(email);
  if (!isEmailAddress(email) || idOfDummyAddress(email, realm) !== undefined) {
    throw refused('This is not a valid e-mail address for a user: use an address such as ada@example.com.');
  }
  return { email, fullName: checkedFullName(wanted.fullName) };
}

async function detailsOf({ db }: ServerTransaction, user: Pick<User, 'id' | 'role'>): Promise<UserDetails> {
  const found = await findDetails(db, { kind: 'id', id: user.id }, user);
  if (found === undefined) throw new Error('the user that was just created has no row');
  return found;
}
