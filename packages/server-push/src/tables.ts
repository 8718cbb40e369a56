import type {
  DeliveryFault,
  DeliveryStatus,
  PushAccountIdText,
  RelayDeviceId,
  TokenKind,
  UserId,
} from '@waxwing/protocol';
import { addIdColumn, columnTypes, type MigrationSet, type WriteTransaction } from '@waxwing/storage';
import { type Generated, type Kysely, sql } from 'kysely';
import {
  addFormerPushKeys,
  addFormerRelayDevices,
  type ClientDeviceTables,
  createClientDevices,
} from './client-devices/client-device-tables.js';
import {
  createHostChallenges,
  createRelayAccounts,
  type RelayAccountTables,
} from './relay-account/account-tables.js';
import {
  addRealmPushStatus,
  createPublishedPushStatus,
  type PushStatusTables,
} from './relay-link/push-status-tables.js';

/** Id that the server assigns to a PushDevice. The relay uses a different id, a {@link RelayDeviceId}. */
export type PushDeviceId = number & { readonly brand: 'PushDeviceId' };

/** A write transaction on the push tables. */
export type PushTransaction = WriteTransaction<ServerPushTables>;

/** Tables of the server side of encrypted push. Timestamps are in Unix milliseconds. */
export interface ServerPushTables extends ClientDeviceTables, RelayAccountTables, PushStatusTables {
  /**
   * One row per (user, `push_account_id`), with the active registration. The `pending_*` columns contain a registration
   * that the relay has not accepted yet.
   */
  push_devices: {
    id: Generated<PushDeviceId>;
    user_id: UserId;
    /** Decimal string. */
    push_account_id: PushAccountIdText;
    /** Number of registrations accepted from the phone. A job for an earlier registration has no effect. */
    generation: number;
    /** Hash of the newest registration. It makes repeated registrations idempotent. */
    registration_hash: string;
    /** Why the newest registration failed; `null` if it did not. */
    error_code: string | null;
    changed_at: number;
    /** When the newest registration was accepted. `null` in rows of earlier versions; use `changed_at` instead. */
    registered_at: number | null;
    pending_token_kind: TokenKind | null;
    pending_push_public_key: string | null;
    pending_bouncer_public_key: string | null;
    pending_encrypted_registration: string | null;
    token_kind: TokenKind | null;
    push_public_key: string | null;
    relay_device_id: RelayDeviceId | null;
    active_generation: number | null;
    last_test_at: number | null;
    /**
     * The sign-in that last registered the device; `null` in rows of earlier versions, and if the host does not name
     * sign-ins.
     */
    session: string | null;
  };
  test_notifications: {
    id: Generated<number>;
    user_id: UserId;
    sent_at: number;
  };
  /** Rate limit on registrations. A user without a row has the full allowance. */
  registration_rates: {
    user_id: UserId;
    /** When the allowance will be full again. */
    full_at: number;
  };
  /** The last known state of the connection to the relay, in a single row with `id` 1. */
  relay_link: {
    id: number;
    last_success_at: number | null;
    failing_since: number | null;
    last_error_at: number | null;
    last_error: string | null;
    last_rejection_at: number | null;
    /** Why the relay last rejected a notification for a device, as a phrase. */
    last_rejection: string | null;
    /** 0 while the relay has switched push off for the organization; `null` until the relay has reported a status. */
    can_push: number | null;
    /** When the relay expects to switch push off, in Unix seconds. */
    push_end_timestamp: number | null;
  };
  /** The relay's results for each device, for notifications whose sender requested a report. */
  delivery_reports: {
    id: Generated<number>;
    report_id: string;
    status: DeliveryStatus;
    reason: string | null;
    fault: DeliveryFault | null;
    app: string | null;
    /** The number of devices with this result. */
    devices: number;
    reported_at: number;
  };
}

const { integer, text } = columnTypes;

export const serverPushMigrations: MigrationSet = {
  unit: 'server_push',
  migrations: {
    '0001-push-devices': {
      async up(db: Kysely<unknown>): Promise<void> {
        await addIdColumn(db, db.schema.createTable('push_devices'))
          .addColumn('user_id', integer, (column) => column.notNull())
          .addColumn('push_account_id', text, (column) => column.notNull())
          .addColumn('generation', integer, (column) => column.notNull())
          .addColumn('registration_hash', text, (column) => column.notNull())
          .addColumn('error_code', text)
          .addColumn('changed_at', integer, (column) => column.notNull())
          .addColumn('pending_token_kind', text)
          .addColumn('pending_push_public_key', text)
          .addColumn('pending_bouncer_public_key', text)
          .addColumn('pending_encrypted_registration', text)
          .addColumn('token_kind', text)
          .addColumn('push_public_key', text)
          .addColumn('relay_device_id', integer)
          .addColumn('active_generation', integer)
          .addColumn('last_test_at', integer)
          .addUniqueConstraint('push_devices_user_account', ['user_id', 'push_account_id'])
          .execute();
        await addIdColumn(db, db.schema.createTable('test_notifications'))
          .addColumn('user_id', integer, (column) => column.notNull())
          .addColumn('sent_at', integer, (column) => column.notNull())
          .execute();
        await db.schema
          .createIndex('test_notifications_user')
          .on('test_notifications')
          .columns(['user_id', 'sent_at'])
          .execute();
        await db.schema
          .createTable('relay_link')
          .addColumn('id', integer, (column) => column.primaryKey())
          .addColumn('last_success_at', integer)
          .addColumn('failing_since', integer)
          .addColumn('last_error_at', integer)
          .addColumn('last_error', text)
          .execute();
      },
    },
    '0002-removals-and-clean-up': {
      async up(db: Kysely<unknown>): Promise<void> {
        const { schema } = db;
        await schema
          .createIndex('push_devices_relay_device')
          .on('push_devices')
          .column('relay_device_id')
          .execute();
        await schema
          .createIndex('push_devices_account')
          .on('push_devices')
          .column('push_account_id')
          .execute();
        await sql`create index push_devices_failed on push_devices (changed_at) where error_code is not null`.execute(
          db,
        );
        await schema
          .createIndex('test_notifications_sent')
          .on('test_notifications')
          .column('sent_at')
          .execute();
      },
    },
    '0003-long-pending': {
      async up(db: Kysely<unknown>): Promise<void> {
        await sql`create index push_devices_pending on push_devices (changed_at)
          where pending_token_kind is not null`.execute(db);
      },
    },
    '0004-registration-rates': {
      async up(db: Kysely<unknown>): Promise<void> {
        await db.schema
          .createTable('registration_rates')
          .addColumn('user_id', integer, (column) => column.primaryKey())
          .addColumn('full_at', integer, (column) => column.notNull())
          .execute();
      },
    },
    '0005-relay-devices-in-force': {
      async up(db: Kysely<unknown>): Promise<void> {
        // A partial index, because devices that were never active have no relay device.
        await db.schema.dropIndex('push_devices_relay_device').execute();
        await sql`create index push_devices_relay_device on push_devices (relay_device_id)
          where relay_device_id is not null`.execute(db);
      },
    },
    '0006-no-relay-device-index': {
      async up(db: Kysely<unknown>): Promise<void> {
        // The index is unused: relay devices are looked up by their account.
        await db.schema.dropIndex('push_devices_relay_device').execute();
      },
    },
    '0007-registered-at': {
      async up(db: Kysely<unknown>): Promise<void> {
        await db.schema.alterTable('push_devices').addColumn('registered_at', integer).execute();
      },
    },
    '0008-client-devices': { up: createClientDevices },
    '0009-delivery-reports': {
      async up(db: Kysely<unknown>): Promise<void> {
        const { schema } = db;
        await schema.alterTable('relay_link').addColumn('last_rejection_at', integer).execute();
        await schema.alterTable('relay_link').addColumn('last_rejection', text).execute();
        await addIdColumn(db, schema.createTable('delivery_reports'))
          .addColumn('report_id', text, (column) => column.notNull())
          .addColumn('status', text, (column) => column.notNull())
          .addColumn('reason', text)
          .addColumn('fault', text)
          .addColumn('app', text)
          .addColumn('devices', integer, (column) => column.notNull())
          .addColumn('reported_at', integer, (column) => column.notNull())
          .execute();
        await schema
          .createIndex('delivery_reports_report')
          .on('delivery_reports')
          .column('report_id')
          .execute();
      },
    },
    '0010-relay-accounts': { up: createRelayAccounts },
    '0011-sessions': {
      async up(db: Kysely<unknown>): Promise<void> {
        await db.schema.alterTable('push_devices').addColumn('session', text).execute();
        await db.schema.alterTable('client_devices').addColumn('session', text).execute();
      },
    },
    '0012-realm-push-status': { up: addRealmPushStatus },
    '0013-former-push-keys': { up: addFormerPushKeys },
    '0014-host-challenges': { up: createHostChallenges },
    '0015-published-push-status': { up: createPublishedPushStatus },
    '0016-former-relay-devices': { up: addFormerRelayDevices },
  },
};
