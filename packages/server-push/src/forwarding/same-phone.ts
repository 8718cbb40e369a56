import type { PushAccountIdText, UserId } from '@waxwing/protocol';
import { lockingRows } from '@waxwing/storage';
import type { ClientDeviceRow } from '../client-devices/client-device-state.js';
import { dropLockedTokens, lockTokens, type Settled } from '../client-devices/pending-tokens.js';
import type { RegistrationKey } from '../push-devices/pending-registrations.js';
import { type PushDeviceRow, registeredAt } from '../push-devices/push-device-state.js';
import { type FreedRelayDevice, freedBy, noActiveRegistration } from '../push-devices/push-device-store.js';
import { compareDates } from '../registrations/compare-dates.js';
import type { SameToken } from '../registrations/same-token.js';
import type { PushTransaction } from '../tables.js';

// Registrations of one user with the same token are the same phone, which would get every notification once for each.
// The one that the phone made last stays. In both generations, devices of the older one are locked first, as in the
// removal of a user's devices.

/** A pending registration of the older generation, and the user's registrations with the same token. */
export interface ForwardedRegistrationKey extends RegistrationKey, SameToken {
  readonly userId: UserId;
  readonly pushAccountId: PushAccountIdText;
}

/** What changed in favor of the phone's last registration. */
interface DroppedOfPhone {
  readonly relayDevices: readonly FreedRelayDevice[];
  readonly tokens: Settled;
  /** Later registrations of the newer generation, on which the relay has yet to decide. They must be compared again. */
  readonly undecided: readonly ClientDeviceRow[];
}

const nothingDropped: DroppedOfPhone = {
  relayDevices: [],
  tokens: { events: [], freed: [] },
  undecided: [],
};

/**
 * Drops a user's registrations with the token of a pending one of the older generation, except the one that the phone
 * made last. Call it before the pending one becomes active; it may be the one that is dropped. Publishes no
 * `push_device` event: otherwise two clients of one app could replace each other endlessly.
 */
export async function dropOlderOfPhone(
  transaction: PushTransaction,
  registration: ForwardedRegistrationKey,
  now: number,
): Promise<DroppedOfPhone> {
  const { id, generation, userId, pushAccountId, sameTokenAccounts, sameTokenIds } = registration;
  if (sameTokenAccounts.length + sameTokenIds.length === 0) return nothingDropped;
  const older = await lockPushDevices(transaction, userId, [pushAccountId, ...sameTokenAccounts]);
  const newer = await lockTokens(transaction, userId, sameTokenIds);
  const own = older.find((row) => row.id === id);
  // Replaced or settled meanwhile: the relay compared a token that the phone no longer has.
  if (own?.generation !== generation || own.pending_token_kind === null) return nothingDropped;
  const newest = older
    .filter(isUsable)
    .reduce((one, other) => (compareDates(registeredAt(one), registeredAt(other), now) > 0 ? one : other));
  const later = newer.filter((row) => !isLater(newest, row.push_token_updated_at ?? 0, now));
  if (later.some((row) => row.push_token_id !== null && sameTokenIds.includes(row.push_token_id))) {
    return { ...nothingDropped, relayDevices: await deletePushDevices(transaction, older) };
  }
  const earlier = newer.filter((row) => !later.includes(row));
  return {
    relayDevices: await deletePushDevices(
      transaction,
      older.filter((row) => row !== newest),
    ),
    tokens: await dropLockedTokens(transaction, earlier),
    undecided: later,
  };
}

/** Whether the relay has accepted a registration of the older generation that the phone made after `date`. */
export function hasReturned(older: readonly LockedPushDevice[], date: number, now: number): boolean {
  return older.some((row) => isLater(row, date, now) && row.active_generation === row.generation);
}

/**
 * Drops locked devices of the older generation in favor of a token that the phone registered at `date` (Unix
 * milliseconds). If the phone has since tried to return to the older generation, and the relay has yet to decide, only
 * the device's active registration is dropped.
 */
export async function dropReplacedByToken(
  transaction: PushTransaction,
  older: readonly LockedPushDevice[],
  date: number,
  now: number,
): Promise<readonly FreedRelayDevice[]> {
  const later = older.filter((row) => isLater(row, date, now));
  const pending = later.filter((row) => row.pending_token_kind !== null);
  await deactivate(transaction, pending);
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

/** Locks devices of a user in id order: two registrations that find each other would otherwise deadlock. */
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

/** Whether the phone registered the device after `date` (Unix milliseconds). */
function isLater(row: LockedPushDevice, date: number, now: number): boolean {
  return compareDates(registeredAt(row), date, now) > 0;
}

/** Whether notifications can be sent to the device, or the relay has yet to decide. A refused one is not usable. */
function isUsable(row: Pick<PushDeviceRow, 'relay_device_id' | 'pending_token_kind'>): boolean {
  return row.relay_device_id !== null || row.pending_token_kind !== null;
}
