import { maximumAccountsOfUser, type PushAccountIdText, type UserId } from '@waxwing/protocol';
import { amongNumbersOf, fixedQuery, lockingRows } from '@waxwing/storage';
import type { Kysely } from 'kysely';
import type { PushTransaction, ServerPushTables } from '../tables.js';
import type { RegistrationKey } from './pending-registrations.js';
import { type PushDeviceRow, registeredAt } from './push-device-state.js';
import { type FreedRelayDevice, freedBy } from './push-device-store.js';

/** A pending registration, and its user's accounts, whose tokens the relay compares. */
export interface RegistrationAmongOthers {
  readonly row: PushDeviceRow;
  readonly accountsOfUser: readonly PushAccountIdText[];
}

/** Adds each user's accounts, newest first: the account itself and at most 99 others. Keeps the order of the rows. */
export async function withAccountsOfUser(
  db: Kysely<ServerPushTables>,
  rows: readonly (PushDeviceRow | undefined)[],
): Promise<(RegistrationAmongOthers | undefined)[]> {
  const users = new Set(rows.flatMap((row) => row?.user_id ?? []));
  if (users.size === 0) return rows.map(() => undefined);
  const accounts = new Map<UserId, PushAccountIdText[]>();
  for (const { user_id, push_account_id } of await accountsOf(db, { users: JSON.stringify([...users]) })) {
    const ofUser = accounts.get(user_id) ?? [];
    accounts.set(user_id, ofUser);
    if (ofUser.length < maximumAccountsOfUser) ofUser.push(push_account_id);
  }
  return rows.map((row) => {
    if (row === undefined) return undefined;
    const accountsOfUser = accounts.get(row.user_id) ?? [];
    if (accountsOfUser.includes(row.push_account_id)) return { row, accountsOfUser };
    return { row, accountsOfUser: [...accountsOfUser.slice(1), row.push_account_id] };
  });
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
 * Deletes a user's devices that share a token, except the one that the phone registered last: all of them are one
 * phone, and it would get every notification once for each. Call it before the registration becomes active; it may be
 * the one that is deleted. Publishes no event: two clients of one app could otherwise replace each other without end.
 *
 * @param accounts those that the relay found to have the token of the registration `key`.
 */
export async function dropOlderOfSameToken(
  { db }: PushTransaction,
  key: RegistrationKey,
  accounts: readonly PushAccountIdText[],
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
  // Replaced or settled meanwhile: the relay compared another token than the phone has now.
  if (own?.generation !== key.generation || own.pending_token_kind === null) return [];
  const usable = rows.filter((row) => row.relay_device_id !== null || row.pending_token_kind !== null);
  const newest = usable.reduce((one, other) => (registeredAt(one) > registeredAt(other) ? one : other));
  const older = rows.flatMap(({ id }) => (id === newest.id ? [] : [id]));
  if (older.length === 0) return [];
  const dropped = await db
    .deleteFrom('push_devices')
    .where('id', 'in', older)
    .returning(['relay_device_id', 'push_account_id'])
    .execute();
  return freedBy(dropped);
}
