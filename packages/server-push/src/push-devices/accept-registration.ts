import { maximumPushDevicesPerUser, type UserId } from '@waxwing/protocol';
import { BulkInsert, fixedQuery, type GivenRow, isPostgres, namesOf, rowsAsTableOf } from '@waxwing/storage';
import { sql, type Transaction } from 'kysely';
import type { PushTransaction, ServerPushTables } from '../tables.js';
import type { CheckedRegistration } from './check-registration.js';
import type { RegistrationKey } from './pending-registrations.js';
import type { PushDeviceRow } from './push-device-state.js';
import { type FreedRelayDevice, freedBy } from './push-device-store.js';

/** A registration requested by a user's phone. */
export interface AskedRegistration {
  readonly userId: UserId;
  readonly registration: CheckedRegistration;
  /** The sign-in that requested the registration. */
  readonly session?: string | null | undefined;
}

/** A registration to forward to the relay. */
export interface AcceptedRegistration {
  readonly key: RegistrationKey;
  /** Number of the user's registrations that were already pending. */
  readonly waitingBefore: number;
}

export type Acceptance =
  | ({ readonly kind: 'accepted'; readonly freed: readonly FreedRelayDevice[] } & AcceptedRegistration)
  /** An identical registration exists and has not failed (idempotent). */
  | { readonly kind: 'unchanged' }
  /** The user has the maximum number of devices, and no device has failed. */
  | { readonly kind: 'full' };

/** Whether an identical registration exists that has not failed. If so, assigns it to the requesting sign-in. */
export async function isRegistered(
  { db }: PushTransaction,
  { userId, registration: { hash, pushAccountId }, session = null }: AskedRegistration,
): Promise<boolean> {
  const [known] = await sameRegistration(db, { userId, pushAccountId, hash });
  if (known === undefined) return false;
  if (known.session !== session) {
    await db.updateTable('push_devices').set({ session }).where('id', '=', known.id).execute();
  }
  return true;
}

type SameRegistration = Pick<CheckedRegistration, 'hash' | 'pushAccountId'> & { readonly userId: UserId };

type KnownRegistration = Pick<PushDeviceRow, 'id' | 'session'>;

const sameRegistration = fixedQuery<ServerPushTables, SameRegistration, KnownRegistration>((db, parameter) =>
  db
    .selectFrom('push_devices')
    .select(['id', 'session'])
    .where('user_id', '=', parameter('userId'))
    .where('push_account_id', '=', parameter('pushAccountId'))
    .where('registration_hash', '=', parameter('hash'))
    .where('error_code', 'is', null),
);

/**
 * The number of the user's earlier pending registrations, and the relay devices freed to make room for the new
 * registration.
 */
type Room = Pick<AcceptedRegistration, 'waitingBefore'> & { readonly freed: readonly FreedRelayDevice[] };

/**
 * Stores each registration as the newest of its device. `asked` has at most one registration per user. Active
 * registrations stay active until the relay decides. Returns the outcomes in the same order.
 */
export async function acceptRegistrations(
  transaction: PushTransaction,
  asked: readonly AskedRegistration[],
  now: number,
): Promise<Acceptance[]> {
  const db = transaction.db;
  const counts = new Map((await countDevices(db, asked)).map((count) => [count.user_id, count]));
  const rooms = new Map<AskedRegistration, Room>();
  for (const each of asked) {
    const { devices = 0, waiting = 0, known = null } = counts.get(each.userId) ?? {};
    const isFull = known === null && Number(devices) >= maximumPushDevicesPerUser;
    const freed = isFull ? await removeOldestFailed(db, each.userId) : [];
    if (freed !== undefined) rooms.set(each, { waitingBefore: Number(waiting), freed });
  }
  const stored = await newestOf(db).run(
    db,
    [...rooms.keys()].map((each) => toRow(each, now)),
  );
  const keys = new Map(stored.map(({ user_id, id, generation }) => [user_id, { id, generation }]));
  return asked.map((each) => {
    const room = rooms.get(each);
    if (room === undefined) return { kind: 'full' };
    const key = keys.get(each.userId);
    const { waitingBefore, freed } = room;
    return key === undefined ? { kind: 'unchanged' } : { kind: 'accepted', key, waitingBefore, freed };
  });
}

const newestColumns = {
  user_id: 'integer',
  push_account_id: 'text',
  generation: 'integer',
  registration_hash: 'text',
  changed_at: 'integer',
  registered_at: 'integer',
  pending_token_kind: 'text',
  pending_push_public_key: 'text',
  pending_bouncer_public_key: 'text',
  pending_encrypted_registration: 'text',
  session: 'text',
} as const;

function toRow({ userId, registration, session = null }: AskedRegistration, now: number): GivenRow {
  const { pushAccountId, hash, tokenKind, pushPublicKey, bouncerPublicKey } = registration;
  const pending = [tokenKind, pushPublicKey, bouncerPublicKey, registration.encryptedPushRegistration];
  return [userId, pushAccountId, 1, hash, now, now, ...pending, session];
}

interface StoredRegistration extends RegistrationKey {
  readonly user_id: UserId;
}

const newest: { postgres?: BulkInsert<StoredRegistration>; sqlite?: BulkInsert<StoredRegistration> } = {};

/** Returns the statement, which is built once per kind of database. */
function newestOf(db: Transaction<ServerPushTables>): BulkInsert<StoredRegistration> {
  const kind = isPostgres(db) ? 'postgres' : 'sqlite';
  newest[kind] ??= new BulkInsert(db, newestColumns, (rows) =>
    db
      .insertInto('push_devices')
      .columns(namesOf(newestColumns))
      .expression(rows)
      .onConflict((conflict) =>
        conflict
          .columns(['user_id', 'push_account_id'])
          .doUpdateSet(({ ref }) => ({
            registration_hash: ref('excluded.registration_hash'),
            error_code: sql`null`,
            changed_at: ref('excluded.changed_at'),
            registered_at: ref('excluded.registered_at'),
            pending_token_kind: ref('excluded.pending_token_kind'),
            pending_push_public_key: ref('excluded.pending_push_public_key'),
            pending_bouncer_public_key: ref('excluded.pending_bouncer_public_key'),
            pending_encrypted_registration: ref('excluded.pending_encrypted_registration'),
            session: ref('excluded.session'),
            generation: sql`push_devices.generation + 1`,
          }))
          .where((is) =>
            is.or([
              is('push_devices.registration_hash', '!=', is.ref('excluded.registration_hash')),
              is('push_devices.error_code', 'is not', null),
            ]),
          ),
      )
      .returning(['id', 'generation', 'user_id']),
  );
  return newest[kind];
}

interface DeviceCount {
  readonly user_id: UserId;
  readonly devices: number;
  readonly waiting: number;
  /** `null` if the requesting device is not registered yet. */
  readonly known: number | null;
}

/** Counts each user's devices and pending registrations, and checks whether the requesting device is among them. */
function countDevices(
  db: Transaction<ServerPushTables>,
  asked: readonly AskedRegistration[],
): Promise<DeviceCount[]> {
  const accounts = asked.map(({ userId, registration: { pushAccountId } }) => ({
    user_id: userId,
    push_account_id: pushAccountId,
  }));
  return deviceCounts(db, { accounts: JSON.stringify(accounts) });
}

const accountColumns = { user_id: 'integer', push_account_id: 'text' } as const;

const deviceCounts = fixedQuery<ServerPushTables, { readonly accounts: string }, DeviceCount>(
  (db, parameter) => ({
    compile: () =>
      sql<DeviceCount>`
        select asked.user_id, count(device.id) as devices, count(device.pending_token_kind) as waiting,
          max(case when device.push_account_id = asked.push_account_id then 1 end) as known
        from ${rowsAsTableOf(db, 'asked', accountColumns, parameter('accounts'))}
          left join push_devices as device on device.user_id = asked.user_id
        group by asked.user_id`.compile(db),
  }),
);

/**
 * Deletes the user's oldest failed device to make room for a new device. Returns the freed relay devices, or
 * `undefined` if no device has failed.
 */
async function removeOldestFailed(
  db: Transaction<ServerPushTables>,
  userId: UserId,
): Promise<readonly FreedRelayDevice[] | undefined> {
  const oldestFailed = await db
    .selectFrom('push_devices')
    .select('id')
    .where('user_id', '=', userId)
    .where('error_code', 'is not', null)
    // Deletes devices without a working registration before devices whose previous registration still works.
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
