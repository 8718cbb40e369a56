import type { RelayDeviceId } from '@waxwing/protocol';
import { columnTypes, type MigrationSet } from '@waxwing/storage';
import { type Kysely, sql } from 'kysely';
import type { Addressee } from '../registrations/store/addressee.js';

/** Delivery tables. Times are in Unix milliseconds. */
export interface DeliveryTables {
  /** Outcomes of notifications that have an id or were queued. Kept for one day after they settle. */
  delivery_receipts: {
    server_id: string;
    /** UUID, lowercase. */
    notification_id: string;
    relay_device_id: RelayDeviceId;
    /** Decimal. Part of the key, because a device id may belong to another account after a restore from a backup. */
    push_account_id: Addressee;
    /** A `DeliveryStatus`. */
    status: string;
    reason: string | null;
    fault: string | null;
    attempts: number;
    updated_at: number;
    /** Number of attempts that may have delivered the notification. */
    doubts: number;
    /**
     * Earliest time of the queued attempt. Set if the first attempt ended after the relay had responded to the server
     * and its outcome requires a longer delay.
     */
    not_before: number | null;
  };
  /** APNs provider tokens, shared by all processes because Apple limits how often a token may be renewed. */
  provider_tokens: {
    /** Fingerprint of team, key id and public key. */
    credential: string;
    /** Sealed by the token vault, because it is a bearer credential. */
    sealed_token: string;
    minted_at: number;
  };
  /** Open circuit breakers, vendor outages, and deletion breakers that an operator has confirmed. */
  app_breakers: {
    app: string;
    /** `credential`, `deletion` or `outage`. */
    kind: string;
    /** `realm <uuid>` or `server <uuid>` for frozen deletions of one realm or server; empty for the whole app. */
    scope: string;
    /** Human-readable: the refused credential, the outage, or the share of dead tokens. */
    reason: string;
    opened_at: number;
    /** When an operator confirmed the deletions; null while they are frozen. */
    confirmed_at: number | null;
  };
}

export const deliveryMigrations: MigrationSet = {
  unit: 'deliveries',
  migrations: {
    '0001-receipts-tokens-breakers': {
      async up(db: Kysely<unknown>): Promise<void> {
        await createReceipts(db);
        await db.schema
          .createTable('provider_tokens')
          .addColumn('credential', columnTypes.text, (column) => column.primaryKey())
          .addColumn('sealed_token', columnTypes.text, (column) => column.notNull())
          .addColumn('minted_at', columnTypes.integer, (column) => column.notNull())
          .execute();
        await breakersTable(db).addPrimaryKeyConstraint('app_breakers_key', ['app', 'kind']).execute();
      },
    },
    '0002-receipts-doubts-rests': {
      async up(db: Kysely<unknown>): Promise<void> {
        await db.schema
          .alterTable('delivery_receipts')
          .addColumn('doubts', columnTypes.integer, (column) => column.notNull().defaultTo(0))
          .execute();
        await db.schema
          .alterTable('delivery_receipts')
          .addColumn('not_before', columnTypes.integer)
          .execute();
      },
    },
    '0003-breaker-scopes': { up: addBreakerScopes },
    '0004-receipts-by-account': { up: keyReceiptsByAccount },
  },
};

async function createReceipts(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('delivery_receipts')
    .addColumn('server_id', columnTypes.text, (column) => column.notNull())
    .addColumn('notification_id', columnTypes.text, (column) => column.notNull())
    .addColumn('relay_device_id', columnTypes.integer, (column) => column.notNull())
    .addColumn('status', columnTypes.text, (column) => column.notNull())
    .addColumn('reason', columnTypes.text)
    .addColumn('fault', columnTypes.text)
    .addColumn('attempts', columnTypes.integer, (column) => column.notNull())
    .addColumn('updated_at', columnTypes.integer, (column) => column.notNull())
    .addPrimaryKeyConstraint('delivery_receipts_key', ['server_id', 'notification_id', 'relay_device_id'])
    .execute();
  await db.schema
    .createIndex('delivery_receipts_age')
    .on('delivery_receipts')
    .columns(['status', 'updated_at'])
    .execute();
}

/**
 * Adds the account to the receipts' primary key. Creates a new table, since SQLite cannot change a primary key. Each
 * existing receipt gets its device's account, so that the queued notification still finds its receipt. The account is 0
 * if the device no longer exists.
 */
async function keyReceiptsByAccount(db: Kysely<unknown>): Promise<void> {
  await db.schema.dropIndex('delivery_receipts_age').execute();
  await db.schema.alterTable('delivery_receipts').renameTo('delivery_receipts_without_account').execute();
  await db.schema
    .createTable('delivery_receipts')
    .addColumn('server_id', columnTypes.text, (column) => column.notNull())
    .addColumn('notification_id', columnTypes.text, (column) => column.notNull())
    .addColumn('relay_device_id', columnTypes.integer, (column) => column.notNull())
    .addColumn('push_account_id', columnTypes.text, (column) => column.notNull())
    .addColumn('status', columnTypes.text, (column) => column.notNull())
    .addColumn('reason', columnTypes.text)
    .addColumn('fault', columnTypes.text)
    .addColumn('attempts', columnTypes.integer, (column) => column.notNull())
    .addColumn('updated_at', columnTypes.integer, (column) => column.notNull())
    .addColumn('doubts', columnTypes.integer, (column) => column.notNull().defaultTo(0))
    .addColumn('not_before', columnTypes.integer)
    .addPrimaryKeyConstraint('delivery_receipts_account_key', [
      'server_id',
      'notification_id',
      'relay_device_id',
      'push_account_id',
    ])
    .execute();
  const others = sql.raw('status, reason, fault, attempts, updated_at, doubts, not_before');
  await sql`insert into delivery_receipts (server_id, notification_id, relay_device_id, push_account_id, ${others})
    select server_id, notification_id, relay_device_id,
      coalesce((select push_account_id from relay_devices where id = relay_device_id), '0'), ${others}
    from delivery_receipts_without_account`.execute(db);
  await db.schema.dropTable('delivery_receipts_without_account').execute();
  await db.schema
    .createIndex('delivery_receipts_age')
    .on('delivery_receipts')
    .columns(['status', 'updated_at'])
    .execute();
}

function breakersTable(db: Kysely<unknown>) {
  return db.schema
    .createTable('app_breakers')
    .addColumn('app', columnTypes.text, (column) => column.notNull())
    .addColumn('kind', columnTypes.text, (column) => column.notNull())
    .addColumn('reason', columnTypes.text, (column) => column.notNull())
    .addColumn('opened_at', columnTypes.integer, (column) => column.notNull())
    .addColumn('confirmed_at', columnTypes.integer);
}

/** Adds `scope` to the primary key. Creates a new table, since SQLite cannot change a primary key. */
async function addBreakerScopes(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('app_breakers').renameTo('app_breakers_without_scope').execute();
  await breakersTable(db)
    .addColumn('scope', columnTypes.text, (column) => column.notNull().defaultTo(''))
    .addPrimaryKeyConstraint('app_breakers_scope_key', ['app', 'kind', 'scope'])
    .execute();
  await sql`insert into app_breakers (app, kind, reason, opened_at, confirmed_at)
    select app, kind, reason, opened_at, confirmed_at from app_breakers_without_scope`.execute(db);
  await db.schema.dropTable('app_breakers_without_scope').execute();
}
