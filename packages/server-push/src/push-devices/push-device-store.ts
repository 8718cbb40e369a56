import type { RelayDeviceId, UserId } from '@waxwing/protocol';
import { maximumPushDevicesPerUser, type PushDeviceStateOnWire, type TokenKind } from '@waxwing/protocol';
import { type Kysely, sql, type Transaction } from 'kysely';
import type { PushDeviceId, PushTransaction, ServerPushTables } from '../tables.js';
import type { CheckedRegistration } from './check-registration.js';
import { type PushDeviceRow, pushDeviceStatus } from './push-device-state.js';

type Reader = Kysely<ServerPushTables>;

/** Names one registration of one PushDevice. */
export interface RegistrationKey {
  readonly id: PushDeviceId;
  readonly generation: number;
}

/** A registration that is to be taken to the relay. */
export interface AcceptedRegistration {
  readonly key: RegistrationKey;
  /** How many registrations of the same user waited for the relay before it. */
  readonly waitingBefore: number;
}

export type Acceptance =
  | ({ readonly kind: 'accepted'; readonly freed: readonly FreedRelayDevice[] } & AcceptedRegistration)
  /** The same registration is there already and has not failed. */
  | { readonly kind: 'unchanged' }
  /** The user has as many devices as allowed, and none of them has failed. */
  | { readonly kind: 'full' };

/** A PushDevice that notifications can be sent to. */
export interface ActivePushDevice {
  readonly id: PushDeviceId;
  readonly pushAccountId: string;
  readonly tokenKind: TokenKind;
  readonly pushPublicKey: string;
  readonly relayDeviceId: RelayDeviceId;
  readonly activeGeneration: number;
  readonly lastTestAt: number | null;
}

/** Whose device changed. */
export interface ChangedPushDevice {
  readonly userId: UserId;
  readonly pushAccountId: string;
}

/** A device of the relay that a PushDevice had and has no more. */
export interface FreedRelayDevice {
  readonly relayDeviceId: RelayDeviceId;
  readonly pushAccountId: string;
}

/** A registration that is in force now, and the device of the relay that the former one had. */
export interface ActivatedPushDevice extends ChangedPushDevice {
  readonly freed: readonly FreedRelayDevice[];
}

const nothingPending = {
  pending_token_kind: null,
  pending_push_public_key: null,
  pending_bouncer_public_key: null,
  pending_encrypted_registration: null,
} as const;

/** Whether the same registration is there already and has not failed. */
export async function isRegistered(
  transaction: PushTransaction,
  userId: UserId,
  { hash, pushAccountId }: CheckedRegistration,
): Promise<boolean> {
  const row = await transaction.db
    .selectFrom('push_devices')
    .select('id')
    .where('user_id', '=', userId)
    .where('push_account_id', '=', pushAccountId)
    .where('registration_hash', '=', hash)
    .where('error_code', 'is', null)
    .executeTakeFirst();
  return row !== undefined;
}

/** Takes a registration as the newest of its device; one that is in force stays so. */
export async function acceptRegistration(
  transaction: PushTransaction,
  userId: UserId,
  registration: CheckedRegistration,
  now: number,
): Promise<Acceptance> {
  const db = transaction.db;
  const { devices, isKnown, waiting } = await countDevices(db, userId, registration.pushAccountId);
  const isFull = !isKnown && devices >= maximumPushDevicesPerUser;
  const freed = isFull ? await removeOldestFailed(db, userId) : [];
  if (freed === undefined) return { kind: 'full' };
  const newest = {
    registration_hash: registration.hash,
    error_code: null,
    changed_at: now,
    pending_token_kind: registration.tokenKind,
    pending_push_public_key: registration.pushPublicKey,
    pending_bouncer_public_key: registration.bouncerPublicKey,
    pending_encrypted_registration: registration.encryptedRegistration,
  };
  const key = await db
    .insertInto('push_devices')
    .values({ user_id: userId, push_account_id: registration.pushAccountId, generation: 1, ...newest })
    .onConflict((conflict) =>
      conflict
        .columns(['user_id', 'push_account_id'])
        .doUpdateSet({ ...newest, generation: sql`push_devices.generation + 1` })
        .where((is) =>
          is.or([
            is('push_devices.registration_hash', '!=', registration.hash),
            is('push_devices.error_code', 'is not', null),
          ]),
        ),
    )
    .returning(['id', 'generation'])
    .executeTakeFirst();
  return key === undefined ? { kind: 'unchanged' } : { kind: 'accepted', key, waitingBefore: waiting, freed };
}

/** How many devices a user has, how many of them wait for the relay, and whether this one is among them. */
async function countDevices(db: Reader, userId: UserId, pushAccountId: string) {
  const { devices, waiting, known } = await db
    .selectFrom('push_devices')
    .select((is) => [
      is.fn.countAll<number>().as('devices'),
      is.fn.count<number>('pending_token_kind').as('waiting'),
      is.fn.max(is.case().when('push_account_id', '=', pushAccountId).then(1).end()).as('known'),
    ])
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow();
  return { devices: Number(devices), waiting: Number(waiting), isKnown: known !== null };
}

/** Makes room for another device of a user; `undefined` when none has failed. */
async function removeOldestFailed(
  db: Transaction<ServerPushTables>,
  userId: UserId,
): Promise<readonly FreedRelayDevice[] | undefined> {
  const oldestFailed = await db
    .selectFrom('push_devices')
    .select('id')
    .where('user_id', '=', userId)
    .where('error_code', 'is not', null)
    // One whose former registration still works is given up last.
    .orderBy((is) => is.case().when('relay_device_id', 'is', null).then(0).else(1).end())
    .orderBy('changed_at')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
  if (oldestFailed === undefined) return undefined;
  const removed = await db
    .deleteFrom('push_devices')
    .where('id', '=', oldestFailed.id)
    .returning(['relay_device_id', 'push_account_id'])
    .execute();
  return freedBy(removed);
}

function freedBy(
  rows: readonly Pick<PushDeviceRow, 'relay_device_id' | 'push_account_id'>[],
): FreedRelayDevice[] {
  return rows.flatMap(({ relay_device_id: relayDeviceId, push_account_id: pushAccountId }) =>
    relayDeviceId === null ? [] : [{ relayDeviceId, pushAccountId }],
  );
}

/** The registration that waits for the relay; `undefined` when it was replaced, settled or removed. */
export async function pendingRegistration(
  db: Reader,
  key: RegistrationKey,
): Promise<PushDeviceRow | undefined> {
  return db
    .selectFrom('push_devices')
    .selectAll()
    .where('id', '=', key.id)
    .where('generation', '=', key.generation)
    .where('pending_token_kind', 'is not', null)
    .executeTakeFirst();
}

/** Puts the pending registration in force; `undefined` when it is not pending any more. */
export async function activateRegistration(
  transaction: PushTransaction,
  key: RegistrationKey,
  relayDeviceId: RelayDeviceId,
  now: number,
): Promise<ActivatedPushDevice | undefined> {
  // Changes nothing: it holds the row where others could else change it before the next statement.
  const former = await transaction.db
    .updateTable('push_devices')
    .set((is) => ({ generation: is.ref('generation') }))
    .where('id', '=', key.id)
    .where('generation', '=', key.generation)
    .returning(['relay_device_id', 'push_account_id'])
    .execute();
  const changed = await settle(transaction, key, {
    token_kind: sql<TokenKind>`pending_token_kind`,
    push_public_key: sql<string>`pending_push_public_key`,
    relay_device_id: relayDeviceId,
    active_generation: key.generation,
    changed_at: now,
  });
  const freed = freedBy(former).filter((device) => device.relayDeviceId !== relayDeviceId);
  return changed && { ...changed, freed };
}

/** Marks the pending registration as failed; `undefined` when it is not pending any more. */
export async function failRegistration(
  transaction: PushTransaction,
  key: RegistrationKey,
  errorCode: string,
  now: number,
): Promise<ChangedPushDevice | undefined> {
  return settle(transaction, key, { error_code: errorCode, changed_at: now });
}

/** Marks up to `limit` registrations as failed that were accepted before `before` and wait still; whose they are. */
export async function failLongPending(
  transaction: PushTransaction,
  { before, limit, errorCode, now }: { before: number; limit: number; errorCode: string; now: number },
): Promise<ChangedPushDevice[]> {
  const db = transaction.db;
  const waiting = db
    .selectFrom('push_devices')
    .select('id')
    .where('pending_token_kind', 'is not', null)
    .where('changed_at', '<', before)
    .limit(limit);
  return (
    db
      .updateTable('push_devices')
      .set({ error_code: errorCode, changed_at: now, ...nothingPending })
      .where('id', 'in', waiting)
      // Said again because a registration may take the row's place between the two.
      .where('pending_token_kind', 'is not', null)
      .where('changed_at', '<', before)
      .returning(['user_id as userId', 'push_account_id as pushAccountId'])
      .execute()
  );
}

async function settle(
  transaction: PushTransaction,
  key: RegistrationKey,
  change: object,
): Promise<ChangedPushDevice | undefined> {
  return transaction.db
    .updateTable('push_devices')
    .set({ ...change, ...nothingPending })
    .where('id', '=', key.id)
    .where('generation', '=', key.generation)
    .where('pending_token_kind', 'is not', null)
    .returning(['user_id as userId', 'push_account_id as pushAccountId'])
    .executeTakeFirst();
}

/** `push_devices` of the register answer: decimal `push_account_id` -> `{status, error_code}`. */
export async function pushDevicesOf(
  db: Reader,
  userId: UserId,
): Promise<Record<string, PushDeviceStateOnWire>> {
  const rows = await db
    .selectFrom('push_devices')
    .select(['push_account_id', 'error_code', 'pending_token_kind'])
    .where('user_id', '=', userId)
    .orderBy('id')
    .execute();
  return Object.fromEntries(
    rows.map((row) => [row.push_account_id, { status: pushDeviceStatus(row), error_code: row.error_code }]),
  );
}

/** The devices of a user that have a registration in force, oldest first; only `pushAccountId` where it is given. */
export async function activePushDevices(
  db: Reader,
  userId: UserId,
  pushAccountId?: string,
): Promise<ActivePushDevice[]> {
  const rows = await db
    .selectFrom('push_devices')
    .selectAll()
    .where('user_id', '=', userId)
    .where('relay_device_id', 'is not', null)
    .$if(pushAccountId !== undefined, (query) => query.where('push_account_id', '=', pushAccountId ?? ''))
    .orderBy('id')
    .execute();
  return rows.map((row) => ({
    id: row.id,
    pushAccountId: row.push_account_id,
    tokenKind: row.token_kind as TokenKind,
    pushPublicKey: row.push_public_key as string,
    relayDeviceId: row.relay_device_id as RelayDeviceId,
    activeGeneration: row.active_generation as number,
    lastTestAt: row.last_test_at,
  }));
}

/**
 * Forgets a registration in force that the relay no longer knows. The row goes with it unless a newer registration is
 * pending. `undefined` when nothing was removed, because the device was registered anew meanwhile or is pending.
 */
export async function dropDeadRegistration(
  transaction: PushTransaction,
  device: Pick<ActivePushDevice, 'id' | 'activeGeneration'>,
): Promise<ChangedPushDevice | undefined> {
  const db = transaction.db;
  const removed = await db
    .deleteFrom('push_devices')
    .where('id', '=', device.id)
    .where('active_generation', '=', device.activeGeneration)
    .where('pending_token_kind', 'is', null)
    .returning(['user_id as userId', 'push_account_id as pushAccountId'])
    .executeTakeFirst();
  if (removed !== undefined) return removed;
  await db
    .updateTable('push_devices')
    .set({ token_kind: null, push_public_key: null, relay_device_id: null, active_generation: null })
    .where('id', '=', device.id)
    .where('active_generation', '=', device.activeGeneration)
    .execute();
  return undefined;
}

/** Deletes all devices of a user; what they had at the relay. */
export async function deletePushDevicesOf(
  transaction: PushTransaction,
  userId: UserId,
): Promise<FreedRelayDevice[]> {
  const removed = await transaction.db
    .deleteFrom('push_devices')
    .where('user_id', '=', userId)
    .returning(['relay_device_id', 'push_account_id'])
    .execute();
  return freedBy(removed);
}

/**
 * Which of the relay's devices a registration in force uses, and for which that is undecided: the relay may give the
 * same device to a registration of the same push account that waits for it.
 */
export async function relayDevicesInUse(
  db: Reader,
  freed: readonly FreedRelayDevice[],
): Promise<{ readonly used: ReadonlySet<RelayDeviceId>; readonly undecided: ReadonlySet<RelayDeviceId> }> {
  const rows = await db
    .selectFrom('push_devices')
    .select(['relay_device_id', 'push_account_id', 'pending_token_kind'])
    .where((is) =>
      is.or([
        is(
          'relay_device_id',
          'in',
          freed.map(({ relayDeviceId }) => relayDeviceId),
        ),
        is(
          'push_account_id',
          'in',
          freed.map(({ pushAccountId }) => pushAccountId),
        ),
      ]),
    )
    .execute();
  const used = new Set(rows.flatMap(({ relay_device_id: id }) => (id === null ? [] : [id])));
  const pending = rows.filter((row) => row.pending_token_kind !== null).map((row) => row.push_account_id);
  const undecided = freed
    .filter(({ relayDeviceId, pushAccountId }) => !used.has(relayDeviceId) && pending.includes(pushAccountId))
    .map(({ relayDeviceId }) => relayDeviceId);
  return { used, undecided: new Set(undecided) };
}

/** Deletes up to `limit` devices whose only registration failed before `before` (Unix milliseconds); how many they were. */
export async function deleteLongFailed(
  transaction: PushTransaction,
  before: number,
  limit: number,
): Promise<number> {
  const db = transaction.db;
  const failed = db
    .selectFrom('push_devices')
    .select('id')
    .where('error_code', 'is not', null)
    .where('changed_at', '<', before)
    .where('relay_device_id', 'is', null)
    .limit(limit);
  const deleted = await db
    .deleteFrom('push_devices')
    .where('id', 'in', failed)
    // Said again because a registration may take the row's place between the two.
    .where('error_code', 'is not', null)
    .where('changed_at', '<', before)
    .returning('id')
    .execute();
  return deleted.length;
}
