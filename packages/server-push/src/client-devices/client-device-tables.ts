import type { ClientDeviceId, PushKeyId, TokenId, UserId } from '@waxwing/protocol';
import { addIdColumn, columnTypes } from '@waxwing/storage';
import { type Generated, type Kysely, sql } from 'kysely';

/** Tables for devices of the newer generation. Timestamps are in Unix milliseconds. */
export interface ClientDeviceTables {
  /**
   * One row per device that a client has created. The `push_token_*` columns contain the active token. The `pending_*`
   * columns contain the newest token until the relay decides on it. If the relay refuses the token, its id stays in
   * `pending_push_token_id`.
   */
  client_devices: {
    id: Generated<ClientDeviceId>;
    user_id: UserId;
    created_at: number;
    /** When the phone created the device, or last sent a key or a token for it. */
    used_at: number;
    /** Number of tokens accepted from the phone. A job for an earlier token has no effect. */
    generation: number;
    push_key_id: PushKeyId | null;
    /** Base64. The first byte names the cipher. */
    push_key: string | null;
    /**
     * JSON array of recently replaced keys, newest first, as pairs of id and time of replacement. The phone still has
     * these keys.
     */
    former_push_keys: string | null;
    /** JSON array of older-generation relay devices that this device has replaced, newest first. */
    former_relay_devices: string | null;
    push_token_id: TokenId | null;
    /** `fcm` or `apns`. Later versions may add other kinds. */
    push_token_kind: string | null;
    /** The value of `generation` when `push_token_id` was registered. */
    active_generation: number | null;
    pending_push_token_id: TokenId | null;
    pending_push_token_kind: string | null;
    pending_bouncer_public_key: string | null;
    /** `null` if no registration awaits the relay's decision. */
    pending_encrypted_registration: string | null;
    push_token_updated_at: number | null;
    push_registration_error_code: string | null;
    last_test_at: number | null;
    /** See `session` in `push_devices`. */
    session: string | null;
  };
}

const { integer, text } = columnTypes;

export async function createClientDevices(db: Kysely<unknown>): Promise<void> {
  await addIdColumn(db, db.schema.createTable('client_devices'))
    .addColumn('user_id', integer, (column) => column.notNull())
    .addColumn('created_at', integer, (column) => column.notNull())
    .addColumn('used_at', integer, (column) => column.notNull())
    .addColumn('generation', integer, (column) => column.notNull())
    .addColumn('push_key_id', integer)
    .addColumn('push_key', text)
    .addColumn('push_token_id', text)
    .addColumn('push_token_kind', text)
    .addColumn('active_generation', integer)
    .addColumn('pending_push_token_id', text)
    .addColumn('pending_push_token_kind', text)
    .addColumn('pending_bouncer_public_key', text)
    .addColumn('pending_encrypted_registration', text)
    .addColumn('push_token_updated_at', integer)
    .addColumn('push_registration_error_code', text)
    .addColumn('last_test_at', integer)
    .execute();
  await db.schema.createIndex('client_devices_user').on('client_devices').column('user_id').execute();
  await sql`create index client_devices_token on client_devices (push_token_id)
    where push_token_id is not null`.execute(db);
  await sql`create index client_devices_pending on client_devices (pending_push_token_id)
    where pending_encrypted_registration is not null`.execute(db);
}

export async function addFormerPushKeys(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('client_devices').addColumn('former_push_keys', text).execute();
}

export async function addFormerRelayDevices(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('client_devices').addColumn('former_relay_devices', text).execute();
}
