import { addIdColumn, columnTypes } from '@waxwing/storage';
import type { ColumnDefinitionBuilder, Generated, Kysely } from 'kysely';

/** The relay's internal id of a realm. The wire format uses its UUID. */
export type RealmId = number & { readonly brand: 'RealmId' };

/** Tables of the servers that may use the relay, their realms and quotas. Times in Unix milliseconds. */
export interface RelayServerTables {
  servers: {
    /** UUID, lowercase. */
    id: string;
    name: string;
    /** SHA-256 of the server key. */
    key_hash: string;
    created_at: number;
    /** When the server deactivated itself. */
    deactivated_at: number | null;
    /** When an operator suspended the server. */
    suspended_at: number | null;
    /** Host and port, normalized as in URLs; unique. Null for a server that never registered itself. */
    hostname: string | null;
    contact_email: string | null;
    /** SHA-256 of the key before the last rotation. That key is accepted until `previous_key_until`. */
    previous_key_hash: string | null;
    previous_key_until: number | null;
  };
  realms: {
    id: Generated<RealmId>;
    /** UUID, lowercase. */
    uuid: string;
    server_id: string;
    created_at: number;
  };
  /** Quota usage of all processes. A full quota needs no row. */
  server_quotas: {
    server_id: string;
    /** Time from `counted_at` until the quota is full. */
    used_milliseconds: number;
    counted_at: number;
  };
  /** Invitations that no server has used yet. */
  server_invitations: {
    /** SHA-256 of the code. */
    code_hash: string;
    /** The operator's name for the server. */
    name: string;
    /** The invited host; null for any host. */
    hostname: string | null;
    /** The invited server; null for any server. */
    server_id: string | null;
    created_at: number;
    expires_at: number;
  };
  /** Outcomes of a server's notifications by hour, and when the server was last seen. */
  server_activity: {
    server_id: string;
    /** Hours since 1970. */
    hour: number;
    sent: number;
    gone: number;
    rejected: number;
    /** 0 if the server was never seen. */
    last_seen_at: number;
  };
  /** Secrets that hosts must publish; see `createChallenge`. */
  server_challenges: {
    /** SHA-256 of the secret. */
    secret_hash: string;
    hostname: string;
    expires_at: number;
  };
}

export async function createServers(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('servers')
    .addColumn('id', columnTypes.text, (column) => column.primaryKey())
    .addColumn('name', columnTypes.text, (column) => column.notNull())
    .addColumn('key_hash', columnTypes.text, (column) => column.notNull())
    .addColumn('created_at', columnTypes.integer, (column) => column.notNull())
    .addColumn('deactivated_at', columnTypes.integer)
    .execute();
}

export async function createRealms(db: Kysely<unknown>): Promise<void> {
  await addIdColumn(db, db.schema.createTable('realms'))
    .addColumn('uuid', columnTypes.text, (column) => column.notNull().unique())
    .addColumn('server_id', columnTypes.text, (column) => column.notNull().references('servers.id'))
    .addColumn('created_at', columnTypes.integer, (column) => column.notNull())
    .execute();
  await db.schema.createIndex('realms_server').on('realms').column('server_id').execute();
}

export async function createServerQuotas(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('server_quotas')
    .addColumn('server_id', columnTypes.text, (column) => column.primaryKey())
    .addColumn('used_milliseconds', columnTypes.integer, (column) => column.notNull())
    .addColumn('counted_at', columnTypes.integer, (column) => column.notNull())
    .execute();
}

/**
 * Adds the columns and tables for servers that register themselves: their details, their previous key, and invitations.
 */
export async function addServerRegistrations(db: Kysely<unknown>): Promise<void> {
  const texts = ['hostname', 'contact_email', 'previous_key_hash'] as const;
  for (const name of texts) {
    await db.schema.alterTable('servers').addColumn(name, columnTypes.text).execute();
  }
  await db.schema.alterTable('servers').addColumn('previous_key_until', columnTypes.integer).execute();
  await db.schema.createIndex('servers_hostname').on('servers').column('hostname').unique().execute();
  await db.schema
    .createTable('server_invitations')
    .addColumn('code_hash', columnTypes.text, (column) => column.primaryKey())
    .addColumn('name', columnTypes.text, (column) => column.notNull())
    .addColumn('hostname', columnTypes.text)
    .addColumn('server_id', columnTypes.text)
    .addColumn('created_at', columnTypes.integer, (column) => column.notNull())
    .addColumn('expires_at', columnTypes.integer, (column) => column.notNull())
    .execute();
}

export async function createServerChallenges(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('server_challenges')
    .addColumn('secret_hash', columnTypes.text, (column) => column.primaryKey())
    .addColumn('hostname', columnTypes.text, (column) => column.notNull())
    .addColumn('expires_at', columnTypes.integer, (column) => column.notNull())
    .execute();
}

export async function addServerSuspensions(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('servers').addColumn('suspended_at', columnTypes.integer).execute();
}

export async function createServerActivity(db: Kysely<unknown>): Promise<void> {
  const notNull = (column: ColumnDefinitionBuilder) => column.notNull();
  await db.schema
    .createTable('server_activity')
    .addColumn('server_id', columnTypes.text, notNull)
    .addColumn('hour', columnTypes.integer, notNull)
    .addColumn('sent', columnTypes.integer, notNull)
    .addColumn('gone', columnTypes.integer, notNull)
    .addColumn('rejected', columnTypes.integer, notNull)
    .addColumn('last_seen_at', columnTypes.integer, notNull)
    .addPrimaryKeyConstraint('server_activity_key', ['server_id', 'hour'])
    .execute();
}
