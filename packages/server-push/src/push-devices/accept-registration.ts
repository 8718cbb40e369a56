import { maximumPushDevicesPerUser, type PushAccountIdText, type UserId } from '@waxwing/protocol';
import { fixedQuery } from '@waxwing/storage';
import { sql, type Transaction } from 'kysely';
import type { PushTransaction, ServerPushTables } from '../tables.js';
import type { CheckedRegistration } from './check-registration.js';
import type { RegistrationKey } from './pending-registrations.js';
import { type FreedRelayDevice, freedBy } from './push-device-store.js';

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

/** Whether the same registration is there already and has not failed. */
export async function isRegistered(
  transaction: PushTransaction,
  userId: UserId,
  { hash, pushAccountId }: CheckedRegistration,
): Promise<boolean> {
  const rows = await sameRegistration(transaction.db, { userId, pushAccountId, hash });
  return rows.length > 0;
}

type SameRegistration = OneAccount & Pick<CheckedRegistration, 'hash'>;

interface OneAccount {
  readonly userId: UserId;
  readonly pushAccountId: PushAccountIdText;
}

const sameRegistration = fixedQuery<ServerPushTables, SameRegistration, object>((db, parameter) =>
  db
    .selectFrom('push_devices')
    .select('id')
    .where('user_id', '=', parameter('userId'))
    .where('push_account_id', '=', parameter('pushAccountId'))
    .where('registration_hash', '=', parameter('hash'))
    .where('error_code', 'is', null),
);

/** Takes a registration as the newest of its device; one that is in force stays so. */
export async function acceptRegistration(
  transaction: PushTransaction,
  userId: UserId,
  registration: CheckedRegistration,
  now: number,
): Promise<Acceptance> {
  const db = transaction.db;
  const { devices, isKnown, waiting } = await countDevices(db, {
    userId,
    pushAccountId: registration.pushAccountId,
  });
  const isFull = !isKnown && devices >= maximumPushDevicesPerUser;
  const freed = isFull ? await removeOldestFailed(db, userId) : [];
  if (freed === undefined) return { kind: 'full' };
  const [key] = await storeNewest(db, { ...registration, userId, now });
  return key === undefined ? { kind: 'unchanged' } : { kind: 'accepted', key, waitingBefore: waiting, freed };
}

type NewestRegistration = CheckedRegistration & { readonly userId: UserId; readonly now: number };

const storeNewest = fixedQuery<ServerPushTables, NewestRegistration, RegistrationKey>((db, parameter) => {
  const newest = {
    registration_hash: parameter('hash'),
    error_code: null,
    changed_at: parameter('now'),
    pending_token_kind: parameter('tokenKind'),
    pending_push_public_key: parameter('pushPublicKey'),
    pending_bouncer_public_key: parameter('bouncerPublicKey'),
    pending_encrypted_registration: parameter('encryptedPushRegistration'),
  };
  const account = { user_id: parameter('userId'), push_account_id: parameter('pushAccountId') };
  return db
    .insertInto('push_devices')
    .values({ ...account, generation: 1, ...newest })
    .onConflict((conflict) =>
      conflict
        .columns(['user_id', 'push_account_id'])
        .doUpdateSet({ ...newest, generation: sql`push_devices.generation + 1` })
        .where((is) =>
          is.or([
            is('push_devices.registration_hash', '!=', parameter('hash')),
            is('push_devices.error_code', 'is not', null),
          ]),
        ),
    )
    .returning(['id', 'generation']);
});

/** How many devices a user has, how many of them wait for the relay, and whether this one is among them. */
async function countDevices(db: Transaction<ServerPushTables>, account: OneAccount) {
  const [count] = await deviceCount(db, account);
  const { devices = 0, waiting = 0, known = null } = count ?? {};
  return { devices: Number(devices), waiting: Number(waiting), isKnown: known !== null };
}

interface DeviceCount {
  readonly devices: number;
  readonly waiting: number;
  readonly known: number | null;
}

const deviceCount = fixedQuery<ServerPushTables, OneAccount, DeviceCount>((db, parameter) =>
  db
    .selectFrom('push_devices')
    .select((is) => [
      is.fn.countAll<number>().as('devices'),
      is.fn.count<number>('pending_token_kind').as('waiting'),
      is.fn.max(is.case().when('push_account_id', '=', parameter('pushAccountId')).then(1).end()).as('known'),
    ])
    .where('user_id', '=', parameter('userId')),
);

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
