import type { RelayDeviceId } from '@waxwing/protocol';
import { addIdColumn, columnTypes } from '@waxwing/storage';
import { type Generated, type Kysely, sql } from 'kysely';
import type { RealmId } from '../../servers/server-tables.js';
import type { Addressee } from './addressee.js';
import type { EndedKeyTable } from './ended-key-table.js';

/** Registered devices and replay records of registrations. Times in Unix milliseconds. */
export interface RegistrationTables {
  relay_devices: {
    id: Generated<RelayDeviceId>;
    realm_id: RealmId;
    /** Never null, although older versions allowed null. */
    push_account_id: Addressee | null;
    token_kind: string;
    /** First result of TokenVault.lookups for the token. */
    token_lookup: string;
    /** Result of TokenVault.seal for the token. No column contains the token itself. */
    token: string;
    ios_app_id: string | null;
    apns_environment: string | null;
    registered_at: number;
    /** The sealed timestamp, or `registered_at` if the timestamp was far ahead; null in rows from older versions. */
    dated_at: number | null;
    expired_at: number | null;
  };
  /**
   * Replay records: which realm first presented a sealed registration, and for which addressees. Kept until the
   * registration expires.
   */
  presented_registrations: {
    /** Derived from the sealed timestamp, so that the same registration always gets the same value. */
    forget_at: number;
    /** SHA-256 of the sealed bytes, in base64. */
    hash: string;
    realm_id: RealmId;
    /** Addressees, each between two commas. */
    push_account_ids: string;
  };
  /**
   * Highest sequence per account, for phones that number their registrations. Rows outlive the devices. A sequence of 0
   * means that no registration had a sequence.
   */
  registration_sequences: {
    realm_id: RealmId;
    /** A push account; on PostgreSQL also a token, with sequence 0. */
    push_account_id: Addressee;
    sequence: number;
    /** When the account last presented a registration. */
    presented_at: number;
  };
  /** Revocations of registrations that a server could still present. */
  revocations: {
    /** A keyed hash of realm, account or token id, and token. */
    name: string;
    /** Registrations that are dated later stay valid. */
    revoked_at: number;
    /** Time from which all revoked registrations are too old to be accepted. */
    forget_at: number;
  };
  ended_keys: EndedKeyTable;
}

export async function createRelayDevices(db: Kysely<unknown>): Promise<void> {
  await addIdColumn(db, db.schema.createTable('relay_devices'))
    .addColumn('realm_id', columnTypes.integer, (column) => column.notNull().references('realms.id'))
    .addColumn('push_account_id', columnTypes.text)
    .addColumn('token_kind', columnTypes.text, (column) => column.notNull())
    .addColumn('token_lookup', columnTypes.text, (column) => column.notNull())
    .addColumn('token', columnTypes.text, (column) => column.notNull())
    .addColumn('ios_app_id', columnTypes.text)
    .addColumn('apns_environment', columnTypes.text)
    .addColumn('registered_at', columnTypes.integer, (column) => column.notNull())
    .addColumn('expired_at', columnTypes.integer)
    .addUniqueConstraint('relay_devices_once', ['realm_id', 'push_account_id', 'token_lookup'])
    .execute();
}

export async function indexExpiredDevices(db: Kysely<unknown>): Promise<void> {
  await sql`create index relay_devices_expired on relay_devices (expired_at) where expired_at is not null`.execute(
    db,
  );
}

export async function createPresentedRegistrations(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('presented_registrations')
    .addColumn('forget_at', columnTypes.integer, (column) => column.notNull())
    .addColumn('hash', columnTypes.text, (column) => column.notNull())
    .addColumn('realm_id', columnTypes.integer, (column) => column.notNull())
    // Time first, so that simultaneous rows are adjacent. Hashes alone would each touch a different index page.
    .addPrimaryKeyConstraint('presented_registrations_key', ['forget_at', 'hash'])
    .execute();
}

export async function addPresentedAccounts(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('presented_registrations')
    .addColumn('push_account_ids', columnTypes.text, (column) => column.notNull().defaultTo(''))
    .execute();
}

export async function createRegistrationSequences(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('registration_sequences')
    .addColumn('realm_id', columnTypes.integer, (column) => column.notNull())
    .addColumn('push_account_id', columnTypes.text, (column) => column.notNull())
    .addColumn('sequence', columnTypes.integer, (column) => column.notNull())
    .addColumn('presented_at', columnTypes.integer, (column) => column.notNull())
    .addPrimaryKeyConstraint('registration_sequences_key', ['realm_id', 'push_account_id'])
    .execute();
  await db.schema
    .createIndex('registration_sequences_presented')
    .on('registration_sequences')
    .column('presented_at')
    .execute();
}

export async function addRegistrationDates(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('relay_devices').addColumn('dated_at', columnTypes.integer).execute();
}

export async function createRevocations(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('revocations')
    .addColumn('name', columnTypes.text, (column) => column.primaryKey())
    .addColumn('revoked_at', columnTypes.integer, (column) => column.notNull())
    .addColumn('forget_at', columnTypes.integer, (column) => column.notNull())
    .execute();
  await db.schema.createIndex('revocations_forgotten').on('revocations').column('forget_at').execute();
}
