import type { UserId } from '@waxwing/protocol';
import { addIdColumn, columnTypes } from '@waxwing/storage';
import type { Generated, Kysely } from 'kysely';

/** Instants in Unix milliseconds. */
export interface AuthenticationTables {
  /** Of people who have one. */
  passwords: {
    user_id: UserId;
    /** As `hashPassword` writes it. */
    hash: string;
  };
  /** API keys that were given for passwords, beside the one that a user was made with. */
  sign_in_keys: {
    id: Generated<number>;
    user_id: UserId;
    /** SHA-256. */
    key_hash: string;
    created_at: number;
  };
  /** Names that somebody has tried to sign in with, and could not. */
  sign_in_failures: {
    /** SHA-256 of the name: people type passwords where names belong. */
    name_digest: string;
    /** Since the instant, or since it was last locked out. */
    failures: number;
    since: number;
    /** How often it was locked out, each time for twice as long. */
    lockouts: number;
    locked_until: number;
    /** When nothing of it matters any more. */
    forget_at: number;
  };
}

const { integer, text } = columnTypes;

export async function createAuthentication(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('passwords')
    .addColumn('user_id', integer, (column) => column.primaryKey().references('users.id'))
    .addColumn('hash', text, (column) => column.notNull())
    .execute();
  await addIdColumn(db, db.schema.createTable('sign_in_keys'))
    .addColumn('user_id', integer, (column) => column.notNull().references('users.id'))
    .addColumn('key_hash', text, (column) => column.notNull())
    .addColumn('created_at', integer, (column) => column.notNull())
    .execute();
  await db.schema
    .createIndex('sign_in_keys_user')
    .on('sign_in_keys')
    .columns(['user_id', 'key_hash'])
    .unique()
    .execute();
  await db.schema
    .createTable('sign_in_failures')
    .addColumn('name_digest', text, (column) => column.primaryKey())
    .addColumn('failures', integer, (column) => column.notNull())
    .addColumn('since', integer, (column) => column.notNull())
    .addColumn('lockouts', integer, (column) => column.notNull())
    .addColumn('locked_until', integer, (column) => column.notNull())
    .addColumn('forget_at', integer, (column) => column.notNull())
    .execute();
  await db.schema
    .createIndex('sign_in_failures_forget_at')
    .on('sign_in_failures')
    .column('forget_at')
    .execute();
}
