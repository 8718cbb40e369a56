import { maximumAccountsOfUser, type PushAccountIdText, type UserId } from '@waxwing/protocol';
import { amongNumbersOf, fixedQuery, lockingRows } from '@waxwing/storage';
import type { Kysely } from 'kysely';
import { compareDates } from '../registrations/compare-dates.js';
import type { PushTransaction, ServerPushTables } from '../tables.js';
import type { RegistrationKey } from './pending-registrations.js';
import { type PushDeviceRow, registeredAt } from './push-device-state.js';
import { type FreedRelayDevice, freedBy } from './push-device-store.js';

/**
 * The user's accounts that have a registration's token, according to the relay; none if the relay does not compare
 * them.
 */
export interface SameTokenAccounts {
  readonly sameTokenAccounts: readonly PushAccountIdText[];
}

/** A pending registration, and its user's accounts. The relay compares their tokens. */
export interface RegistrationAmongOthers {
  readonly row: PushDeviceRow;
  readonly accountsOfUser: readonly PushAccountIdText[];
}

/** Adds each user's accounts, newest first: the account itself and at most 99 others. Keeps the order of the rows. */
export async function withAccountsOfUser(
  db: Kysely<ServerPushTables>,
  rows: readonly (PushDeviceRow | undefined)[],
): Promise<(RegistrationAmongOthers | undefined)[]> {
  const accounts = await accountsOfUsers(db, rows);
  return rows.map((row) => {
    if (row === undefined) return undefined;
    const accountsOfUser = accounts.get(row.user_id) ?? [];
    if (accountsOfUser.includes(row.push_account_id)) return { row, accountsOfUser };
    return { row, accountsOfUser: [...accountsOfUser.slice(1), row.push_account_id] };
  });
}

/** The accounts of each row's user, the newest 100 first. */
export async function accountsOfUsers(
  db: Kysely<ServerPushTables>,
  rows: readonly ({ readonly user_id: UserId } | undefined)[],
): Promise<ReadonlyMap<UserId, readonly PushAccountIdText[]>> {
  const users = new Set(rows.flatMap((row) => row?.user_id ?? []));
  const accounts = new Map<UserId, PushAccountIdText[]>();
  if (users.size === 0) return accounts;
  for (const { user_id, push_account_id } of await accountsOf(db, { users: JSON.stringify([...users]) })) {
    const ofUser = accounts.get(user_id) ?? [];
    accounts.set(user_id, ofUser);
    if (ofUser.length < maximumAccountsOfUser) ofUser.push(push_account_id);
  }
  return accounts;
}

const accountsOf = fixedQuery<
  ServerPushTables,
  { readonly users: string },
  Pick<PushDeviceRow, 'user_id' | 'push_account_id'>
>((db, parameter) =>
  db
    .selectFrom('push_devices')
    .select(['user_id', 'push_account_id'])
    .where('user_id', 'in', amongNumbersOf<ServerPushTables, UserId>(db, parameter('users')))
    .orderBy('id', 'desc'),
);

/**
 * Deletes a user's devices that share a token, except the one that the phone registered last: they are all the same
 * phone, which would get every notification once for each. Call it before the registration becomes active; this
 * registration may be the one that is deleted. Publishes no event: otherwise two clients of one app could replace each
 * other endlessly.
 *
 * @param accounts the accounts that, according to the relay, have the token of the registration `key`.
 */
export async function dropOlderOfSameToken(
  { db }: PushTransaction,
  key: RegistrationKey,
  accounts: readonly PushAccountIdText[],
  now: number,
): Promise<readonly FreedRelayDevice[]> {
  if (accounts.length === 0) return [];
  const owner = db.selectFrom('push_devices').select('user_id').where('id', '=', key.id);
  const rows = await db
    .selectFrom('push_devices')
    .select(['id', 'generation', 'registered_at', 'changed_at', 'relay_device_id', 'pending_token_kind'])
    .where('user_id', 'in', owner)
    .where((is) => is.or([is('id', '=', key.id), is('push_account_id', 'in', accounts)]))
    // In id order: two registrations that find each other would otherwise deadlock.
    .orderBy('id')
    .modifyEnd(lockingRows(db))
    .execute();
  const own = rows.find(({ id }) => id === key.id);
  // Replaced or settled meanwhile: the relay compared a token that the phone no longer has.
  if (own?.generation !== key.generation || own.pending_token_kind === null) return [];
  const usable = rows.filter((row) => row.relay_device_id !== null || row.pending_token_kind !== null);
  const newest = usable.reduce((one, other) =>
    compareDates(registeredAt(one), registeredAt(other), now) > 0 ? one : other,
  );
  const older = rows.flatMap(({ id }) => (id === newest.id ? [] : [id]));
  if (older.length === 0) return [];
  const dropped = await db
    .deleteFrom('push_devices')
    .where('id', 'in', older)
    .returning(['relay_device_id', 'push_account_id'])
    .execute();
  return freedBy(dropped);
}

/** A device of the older generation whose phone has registered in the newer one. */
export type FormerDevice = Pick<PushDeviceRow, 'id' | 'registered_at' | 'changed_at'>;

/**
 * Locks devices of a user. Call it before locking devices of the newer generation: the removal of a user's devices uses
 * the same order.
 */
export async function lockFormerDevices(
  { db }: PushTransaction,
  userId: UserId,
  accounts: readonly PushAccountIdText[],
): Promise<readonly FormerDevice[]> {
  if (accounts.length === 0) return [];
  return db
    .selectFrom('push_devices')
    .select(['id', 'registered_at', 'changed_at'])
    .where('user_id', '=', userId)
    .where('push_account_id', 'in', accounts)
    .orderBy('id')
    .modifyEnd(lockingRows(db))
    .execute();
}

/**
 * Deletes locked devices, unless their phone registered after `before` (Unix milliseconds): then it has returned to the
 * older generation. Publishes no event, like {@link dropOlderOfSameToken}.
 */
export async function dropFormerDevices(
  { db }: PushTransaction,
  former: readonly FormerDevice[],
  before: number,
  now: number,
): Promise<readonly FreedRelayDevice[]> {
  const ids = former.flatMap((row) => (compareDates(registeredAt(row), before, now) > 0 ? [] : [row.id]));
  if (ids.length === 0) return [];
  const dropped = await db
    .deleteFrom('push_devices')
    .where('id', 'in', ids)
    .returning(['relay_device_id', 'push_account_id'])
    .execute();
  return freedBy(dropped);
}
