import type { PushAccountIdText, UserId } from '@waxwing/protocol';
import { lockingRows } from '@waxwing/storage';
import { forwardTokenAgain } from '../client-devices/enqueue-token-forwarding.js';
import { isAmong } from '../client-devices/freed-tokens.js';
import { dropLockedTokens, lockTokens, type Settled } from '../client-devices/pending-tokens.js';
import { type ForwardingDatabase, forwardRegistrationAgain } from '../push-devices/enqueue-forwarding.js';
import type { RegistrationKey } from '../push-devices/pending-registrations.js';
import { type PushDeviceRow, registeredAt } from '../push-devices/push-device-state.js';
import { type FreedRelayDevice, freedBy, noActiveRegistration } from '../push-devices/push-device-store.js';
import { compareDates } from '../registrations/compare-dates.js';
import type { SameToken } from '../registrations/same-token.js';
import type { PushTransaction } from '../tables.js';

// Registrations of one user with the same token belong to one phone, which would get every notification once per
// registration. Therefore, this module keeps only the newest registration. It locks older-generation rows before
// newer-generation rows, like the removal of a user's devices: a different order could deadlock.

/** A pending registration of the older generation, and the user's registrations with the same token. */
export interface ForwardedRegistrationKey extends RegistrationKey, SameToken {
  readonly userId: UserId;
  readonly pushAccountId: PushAccountIdText;
}

/** Registrations that were dropped because the phone has a later registration. */
interface DroppedOfPhone {
  readonly relayDevices: readonly FreedRelayDevice[];
  readonly tokens: Settled;
}

const noTokens: Settled = { events: [], freed: [] };

/**
 * Keeps only the phone's latest registration among the user's registrations with the same token, and drops the others.
 * Call it after the relay has accepted a pending older-generation registration, and before that registration becomes
 * active. The pending registration itself may be dropped. Publishes no `push_device` event: otherwise, two clients of
 * one app could replace each other's registrations endlessly.
 */
export async function dropOlderOfPhone(
  database: ForwardingDatabase,
  transaction: PushTransaction,
  registration: ForwardedRegistrationKey,
  now: number,
): Promise<DroppedOfPhone> {
  const { id, generation, userId, pushAccountId, sameTokenAccounts, sameTokenIds } = registration;
  const nothing = { relayDevices: [], tokens: noTokens };
  if (sameTokenAccounts.length + sameTokenIds.length === 0) return nothing;
  const older = await lockPushDevices(transaction, userId, [pushAccountId, ...sameTokenAccounts]);
  const newer = await lockTokens(transaction, userId, sameTokenIds);
  const own = older.find((row) => row.id === id);
  // The registration was replaced or settled in the meantime, so the relay compared a token that the phone no longer
  // has.
  if (own?.generation !== generation || own.pending_token_kind === null) return nothing;
  const date = registeredAt(own);
  const others = older.filter((row) => row !== own);
  const later = newer.filter((row) => !isLater(own, row.push_token_updated_at ?? 0, now));
  const isUpgraded = later.some((row) => isAmong(sameTokenIds, row.push_token_id));
  if (isUpgraded || hasLaterAccepted(others, date, now)) {
    const earlier = older.filter((row) => !isLater(row, date, now));
    return { relayDevices: await deletePushDevices(transaction, earlier), tokens: noTokens };
  }
  for (const row of later) await forwardTokenAgain(database, transaction, row, now);
  return {
    relayDevices: await dropReplaced(database, transaction, others, { date, now }),
    tokens: await dropLockedTokens(
      transaction,
      newer.filter((row) => !later.includes(row)),
    ),
  };
}

/** Whether the relay has accepted an older-generation registration that the phone made after `date` (Unix milliseconds). */
export function hasLaterAccepted(older: readonly LockedPushDevice[], date: number, now: number): boolean {
  return older.some((row) => isLater(row, date, now) && row.active_generation === row.generation);
}

/**
 * Drops locked devices of the older generation in favor of a registration that the phone made at `date` (Unix
 * milliseconds) and that the relay has accepted. If the phone has registered a device again since then, and the relay
 * has not yet decided on that registration, drops only the device's active registration: the pending registration is
 * forwarded and compared again.
 */
export async function dropReplaced(
  database: ForwardingDatabase,
  transaction: PushTransaction,
  older: readonly LockedPushDevice[],
  { date, now }: { readonly date: number; readonly now: number },
): Promise<readonly FreedRelayDevice[]> {
  const pending = older.filter((row) => isLater(row, date, now) && row.pending_token_kind !== null);
  await deactivate(transaction, pending);
  for (const row of pending) await forwardRegistrationAgain(database, transaction, row, now);
  const others = older.filter((row) => !pending.includes(row));
  return [...freedBy(pending), ...(await deletePushDevices(transaction, others))];
}

/** A device of the older generation. */
export type LockedPushDevice = Pick<PushDeviceRow, (typeof lockedColumns)[number]>;

const lockedColumns = [
  'id',
  'push_account_id',
  'generation',
  'active_generation',
  'registered_at',
  'changed_at',
  'relay_device_id',
  'pending_token_kind',
] as const;

/** Locks a user's devices in id order. In any other order, two registrations that find each other could deadlock. */
export async function lockPushDevices(
  { db }: PushTransaction,
  userId: UserId,
  accounts: readonly PushAccountIdText[],
): Promise<readonly LockedPushDevice[]> {
  if (accounts.length === 0) return [];
  return db
    .selectFrom('push_devices')
    .select(lockedColumns)
    .where('user_id', '=', userId)
    .where('push_account_id', 'in', accounts)
    .orderBy('id')
    .modifyEnd(lockingRows(db))
    .execute();
}

async function deactivate({ db }: PushTransaction, rows: readonly LockedPushDevice[]): Promise<void> {
  if (rows.length === 0) return;
  const ids = rows.map(({ id }) => id);
  await db.updateTable('push_devices').set(noActiveRegistration).where('id', 'in', ids).execute();
}

/** Deletes locked devices. Returns the relay devices that they used. */
async function deletePushDevices(
  { db }: PushTransaction,
  rows: readonly Pick<PushDeviceRow, 'id'>[],
): Promise<readonly FreedRelayDevice[]> {
  if (rows.length === 0) return [];
  const ids = rows.map(({ id }) => id);
  const deleted = await db
    .deleteFrom('push_devices')
    .where('id', 'in', ids)
    .returning(['relay_device_id', 'push_account_id'])
    .execute();
  return freedBy(deleted);
}

/** Whether the phone registered this device after `date` (Unix milliseconds). */
function isLater(row: LockedPushDevice, date: number, now: number): boolean {
  return compareDates(registeredAt(row), date, now) > 0;
}
