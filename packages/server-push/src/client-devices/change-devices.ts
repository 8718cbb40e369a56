import type { ClientDeviceId, UserId } from '@waxwing/protocol';
import { amongNumbersOf, fixedQuery, lockingRows, rowsAsTableOf } from '@waxwing/storage';
import { sql } from 'kysely';
import type { PushTransaction, ServerPushTables } from '../tables.js';
import type { ClientDeviceRow } from './client-device-state.js';
import type { ChangeableColumns } from './decide-change.js';

/**
 * A device whose row is locked. `waiting` is the number of the user's registrations that await the relay's decision.
 */
export type LockedDevice = ClientDeviceRow & { readonly waiting: number };

/** Reads devices, and locks their rows until the transaction ends. */
export async function lockDevices(
  { db }: PushTransaction,
  ids: readonly ClientDeviceId[],
): Promise<LockedDevice[]> {
  if (ids.length === 0) return [];
  return lockedDevices(db, { ids: JSON.stringify(ids) });
}

const lockedDevices = fixedQuery<ServerPushTables, { readonly ids: string }, LockedDevice>((db, parameter) =>
  db
    .selectFrom('client_devices')
    .selectAll()
    .select((is) =>
      is
        .selectFrom('client_devices as other')
        .select(({ fn }) => fn.count<number>('other.pending_encrypted_registration').as('waiting'))
        .whereRef('other.user_id', '=', 'client_devices.user_id')
        .$asScalar()
        .$notNull()
        .as('waiting'),
    )
    .where('id', 'in', amongNumbersOf<ServerPushTables, ClientDeviceId>(db, parameter('ids')))
    // Locks in id order: otherwise, two batches with the same devices could deadlock.
    .orderBy('id')
    .modifyEnd(lockingRows(db)),
);

const columns = {
  id: 'integer',
  used_at: 'integer',
  generation: 'integer',
  push_key_id: 'integer',
  push_key: 'text',
  former_push_keys: 'text',
  push_token_updated_at: 'integer',
  pending_push_token_id: 'text',
  pending_push_token_kind: 'text',
  pending_bouncer_public_key: 'text',
  pending_encrypted_registration: 'text',
  push_registration_error_code: 'text',
  session: 'text',
} as const;

/** A locked device and its changes. */
export interface DeviceChange {
  readonly device: LockedDevice;
  readonly columns: Partial<ChangeableColumns>;
  /** The sign-in that requested the change. */
  readonly session: string | null;
}

/** Stores changes to locked devices in one statement. */
export async function storeChanges(
  { db }: PushTransaction,
  changes: readonly DeviceChange[],
  now: number,
): Promise<void> {
  if (changes.length === 0) return;
  const rows = changes.map(({ device, columns: changed, session }) => {
    const row = { ...device, ...changed, session, used_at: now };
    return Object.fromEntries(names.map((name) => [name, row[name]]));
  });
  await changed(db, { rows: JSON.stringify(rows) });
}

const names = Object.keys(columns) as (keyof typeof columns)[];

const changed = fixedQuery<ServerPushTables, { readonly rows: string }, { user_id: UserId }>(
  (db, parameter) => ({
    compile: () => {
      const assignments = names.filter((name) => name !== 'id').map((name) => `${name} = changed.${name}`);
      return sql<{ user_id: UserId }>`
        update client_devices set ${sql.raw(assignments.join(', '))}
        from ${rowsAsTableOf(db, 'changed', columns, parameter('rows'))}
        where client_devices.id = changed.id`.compile(db);
    },
  }),
);
