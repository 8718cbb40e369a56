import type { PushAccountIdText, RelayDeviceId } from '@waxwing/protocol';
import { columnTypes, type MigrationSet } from '@waxwing/storage';
import { type Kysely, sql } from 'kysely';

/** What deliveries remember. Instants in Unix milliseconds. */
export interface DeliveryTables {
  /** What became of each notification that has an id, for a day; what is queued until its fate is known. */
  delivery_receipts: {
    server_id: string;
    /** UUID, lower case. */
    notification_id: string;
    relay_device_id: RelayDeviceId;
    /** Decimal text. After a restore the same id may belong to another account. */
    push_account_id: PushAccountIdText;
    /** DeliveryStatus. */
    status: string;
    reason: string | null;
    fault: string | null;
    attempts: number;
    updated_at: number;
    /** Attempts that may have been sent all the same. */
    doubts: number;
    /** Until when the stored try must wait, because the first one ended so after its request was answered. */
    not_before: number | null;
  };
  /** APNs provider tokens, shared by all processes because Apple counts how often a new one comes. */
  provider_tokens: {
    /** Fingerprint of team, key id and public key. */
    credential: string;
    /** Sealed by the token vault: it is a bearer credential. */
    sealed_token: string;
    minted_at: number;
  };
  /** Breakers that are open, or that an operator closed lately. */
  app_breakers: {
    app: string;
    /** `credential` or `deletion`. */
    kind: string;
    /** `realm <uuid>` or `server <uuid>` where only that one's deletions are frozen; empty for the whole app. */
    scope: string;
    /** For people: what was refused, or which share of tokens died. */
    reason: string;
    opened_at: number;
    /** When an operator confirmed that the deletions are right; null while they are frozen. */
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
 * Adds the account to the receipts' key: a table of its own, since SQLite cannot change a primary key. A receipt from before
 * takes the account of its device, so that its queued notification still finds it, and 0 where the device is gone.
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

/** SQLite cannot change a primary key. */
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
