import type { DatabaseWithJobs } from '@waxwing/jobs';
import { type ServerPushTables, serverPushMigrations } from '@waxwing/server-push';
import { addIdColumn, columnTypes, type MigrationSet } from '@waxwing/storage';
import { type Generated, type Kysely, sql } from 'kysely';

/** The chat server's own tables. Instants in Unix milliseconds, truth as 0 or 1. */
export interface ServerTables extends ServerPushTables {
  /** A single row, `id` 1. */
  realm: {
    id: number;
    uuid: string;
    created_at: number;
  };
  /** Users and bots. One that was removed stays, inactive, for what it wrote; its address is free again. */
  users: {
    id: Generated<number>;
    email: string;
    email_lower: string;
    full_name: string;
    role: number;
    is_bot: number;
    bot_owner_id: number | null;
    /** SHA-256. */
    api_key_hash: string;
    is_active: number;
    created_at: number;
  };
  event_queues: {
    queue_id: string;
    user_id: number;
    /** JSON array; null means all types. */
    event_types: string | null;
    /** Id of the newest event, -1 before the first. */
    last_event_id: number;
    acknowledged_event_id: number;
    last_used_at: number;
  };
  events: {
    queue_id: string;
    event_id: number;
    /** JSON object without `id`. */
    event: string;
  };
}

export type ServerDatabase = DatabaseWithJobs<ServerTables>;

const { integer, text } = columnTypes;

const ownMigrations: MigrationSet = {
  unit: 'server',
  migrations: {
    '0001-realm-users-event-queues': {
      async up(db: Kysely<unknown>): Promise<void> {
        await createRealm(db);
        await createUsers(db);
        await createEventQueues(db);
      },
    },
  },
};

/** Everything that the server keeps. */
export const serverMigrations: readonly MigrationSet[] = [serverPushMigrations, ownMigrations];

async function createRealm(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('realm')
    .addColumn('id', integer, (column) => column.primaryKey())
    .addColumn('uuid', text, (column) => column.notNull())
    .addColumn('created_at', integer, (column) => column.notNull())
    .execute();
}

async function createUsers(db: Kysely<unknown>): Promise<void> {
  await addIdColumn(db, db.schema.createTable('users'))
    .addColumn('email', text, (column) => column.notNull())
    .addColumn('email_lower', text, (column) => column.notNull())
    .addColumn('full_name', text, (column) => column.notNull())
    .addColumn('role', integer, (column) => column.notNull())
    .addColumn('is_bot', integer, (column) => column.notNull())
    .addColumn('bot_owner_id', integer, (column) => column.references('users.id'))
    .addColumn('api_key_hash', text, (column) => column.notNull())
    .addColumn('is_active', integer, (column) => column.notNull())
    .addColumn('created_at', integer, (column) => column.notNull())
    .execute();
  await sql`create unique index users_active_email on users (email_lower) where is_active = 1`.execute(db);
}

async function createEventQueues(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('event_queues')
    .addColumn('queue_id', text, (column) => column.primaryKey())
    .addColumn('user_id', integer, (column) => column.notNull())
    .addColumn('event_types', text)
    .addColumn('last_event_id', integer, (column) => column.notNull())
    .addColumn('acknowledged_event_id', integer, (column) => column.notNull())
    .addColumn('last_used_at', integer, (column) => column.notNull())
    .execute();
  await db.schema.createIndex('event_queues_user').on('event_queues').column('user_id').execute();
  await db.schema
    .createTable('events')
    .addColumn('queue_id', text, (column) =>
      column.notNull().references('event_queues.queue_id').onDelete('cascade'),
    )
    .addColumn('event_id', integer, (column) => column.notNull())
    .addColumn('event', text, (column) => column.notNull())
    .addPrimaryKeyConstraint('events_id', ['queue_id', 'event_id'])
    .execute();
}
