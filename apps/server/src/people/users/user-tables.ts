import type { UserId } from '@waxwing/protocol';
import { addIdColumn, columnTypes, inPieces, isPostgres, rowsAsTable } from '@waxwing/storage';
import { type Generated, type Kysely, sql } from 'kysely';
import { addressKey } from '../../platform/names/address-key.js';
import { nameKey } from '../../platform/names/name-key.js';

/** The user table. Times are Unix milliseconds, booleans are 0 or 1. */
export interface UserTables {
  /** Users and bots. The row of a deactivated user is kept, because messages refer to it. The address can be reused. */
  users: {
    id: Generated<UserId>;
    email: string;
    email_lower: string;
    full_name: string;
    /** The `nameKey` of the name, for checking that names are unique. */
    name_key: Generated<string>;
    role: number;
    is_bot: number;
    bot_owner_id: UserId | null;
    /** SHA-256. */
    api_key_hash: string;
    is_active: number;
    created_at: number;
    /** One of `addressVisibility`. */
    email_address_visibility: Generated<number>;
    /** IANA name; empty if not set. */
    timezone: Generated<string>;
    /** URL of an uploaded avatar; null for the provider's avatar. */
    avatar_url: string | null;
    /** Increases by one with each change of the avatar. */
    avatar_version: Generated<number>;
    /** Whether the user may change other users' addresses. Applies only while the user is an owner. */
    can_change_user_emails: Generated<number>;
    /** The name of a system bot; null for all other users. System bots are inactive, because they cannot sign in. */
    system_bot: string | null;
  };
}

const { integer, text } = columnTypes;

export async function createUsers(db: Kysely<unknown>): Promise<void> {
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

/** Adds the columns for user records, and the permission to change addresses. */
export async function addUserDetails(db: Kysely<unknown>): Promise<void> {
  const add = (name: string, type: 'bigint' | 'text', value: number | string) =>
    db.schema
      .alterTable('users')
      .addColumn(name, type, (column) => column.notNull().defaultTo(value))
      .execute();
  await add('email_address_visibility', integer, 1);
  await add('timezone', text, '');
  await db.schema.alterTable('users').addColumn('avatar_url', text).execute();
  await add('avatar_version', integer, 1);
  await add('can_change_user_emails', integer, 0);
  // Covers deactivated users too, because they are looked up by their last address.
  await db.schema.createIndex('users_email').on('users').column('email_lower').execute();
}

/** Adds the column for system bots. */
export async function addSystemBots(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('users').addColumn('system_bot', text).execute();
  await sql`create unique index users_system_bot on users (system_bot) where system_bot is not null`.execute(
    db,
  );
  // Mentions find users by name, case-insensitively.
  await sql`create index users_name on users (lower(full_name))`.execute(db);
}

/** Adds the indexes that changing a user needs: to find the user's bots, and to find the owners. */
export async function findBotsAndOwners(db: Kysely<unknown>): Promise<void> {
  await db.schema.createIndex('users_bot_owner').on('users').column('bot_owner_id').execute();
  await sql`create index users_owners on users (id) where role = 100`.execute(db);
}

/**
 * Recomputes `email_lower` with the current rule. Earlier versions stored the address in lower case. If two active
 * users now have the same key, the user with the lower id keeps it.
 */
export async function renewAddressKeys(db: Kysely<unknown>): Promise<void> {
  const users = db as Kysely<UserTables>;
  const rows = await users
    .selectFrom('users')
    .select(['id', 'email', 'email_lower', 'is_active'])
    .orderBy('id')
    .execute();
  const taken = new Set(rows.flatMap((row) => (row.is_active === 1 ? [row.email_lower] : [])));
  for (const { id, email, email_lower: former, is_active } of rows) {
    const key = addressKey(email);
    if (key === former || (is_active === 1 && taken.has(key))) continue;
    await users.updateTable('users').set({ email_lower: key }).where('id', '=', id).execute();
    if (is_active === 1) taken.add(key);
  }
}

/** Adds the keys of names, with an index. */
export async function addNameKeys(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('users')
    .addColumn('name_key', text, (column) => column.notNull().defaultTo(''))
    .execute();
  // Creates the index before the update: PostgreSQL cannot create it while deferred triggers are pending.
  await db.schema.createIndex('users_name_key').on('users').column('name_key').execute();
  const users = db as Kysely<UserTables>;
  const rows = await users.selectFrom('users').select(['id', 'full_name']).execute();
  await inPieces(users, rows, async (piece) => {
    const keys = piece.map(({ id, full_name }) => ({ id, key: nameKey(full_name) }));
    await sql`
      update users set name_key = v.key from ${rowsAsTable(users, 'v', { id: 'integer', key: 'text' }, keys)}
      where users.id = v.id`.execute(users);
  });
  // Runs the deferred triggers now: while they are pending, a later migration cannot change the table.
  if (isPostgres(db)) await sql`set constraints all immediate`.execute(db);
}

/** The tables that a user's record is written from. */
const recorded = ['users', 'profile_values'] as const;

/**
 * Adds the column `users_version` to the realm. Triggers replace the version for every statement that changes a user.
 * The version is random: a counter would repeat values after a restore, and clients would keep outdated users.
 */
export async function addUsersVersion(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('realm')
    .addColumn('users_version', text, (column) => column.notNull().defaultTo(''))
    .execute();
  await (isPostgres(db) ? addPostgresTriggers(db) : addSqliteTriggers(db));
}

async function addSqliteTriggers(db: Kysely<unknown>): Promise<void> {
  const renew = sql`update realm set users_version = lower(hex(randomblob(16)));`;
  await sql`update realm set users_version = lower(hex(randomblob(16)))`.execute(db);
  for (const table of recorded) {
    for (const change of ['insert', 'update', 'delete']) {
      await sql`
        create trigger ${sql.ref(`${table}_version_${change}`)} after ${sql.raw(change)} on ${sql.table(table)}
        begin ${renew} end`.execute(db);
    }
  }
}

/**
 * Adds the triggers on PostgreSQL. They are deferred to the end of the transaction: locking the realm's row before
 * other rows could deadlock. A transaction-local setting ensures that changing many users writes the row only once.
 */
async function addPostgresTriggers(db: Kysely<unknown>): Promise<void> {
  await sql`update realm set users_version = gen_random_uuid()::text`.execute(db);
  await sql`
    create function renew_users_version() returns trigger language plpgsql set search_path from current as $$
    begin
      if coalesce(current_setting('waxwing.renewed_users_version', true), '') = '' then
        update realm set users_version = gen_random_uuid()::text;
        perform set_config('waxwing.renewed_users_version', 'yes', true);
      end if;
      return null;
    end $$`.execute(db);
  for (const table of recorded) {
    await sql`
      create constraint trigger ${sql.ref(`${table}_version`)} after insert or update or delete on ${sql.table(table)}
      deferrable initially deferred for each row execute function renew_users_version()`.execute(db);
  }
}
