import type { UserId } from '@waxwing/protocol';
import { addIdColumn, columnTypes } from '@waxwing/storage';
import type { Generated, Kysely } from 'kysely';

/** Tables for passwords and sign-in. Times are Unix milliseconds. */
export interface AuthenticationTables {
  /** Password hashes of the people who have a password. */
  passwords: {
    user_id: UserId;
    /** A result of `hashPassword`. */
    hash: string;
  };
  /** API keys issued by signing in, in addition to the main key in `users.api_key_hash`. */
  sign_in_keys: {
    id: Generated<number>;
    user_id: UserId;
    /** SHA-256. */
    key_hash: string;
    created_at: number;
  };
  /** Names with recent failed sign-ins. */
  sign_in_failures: {
    /**
     * SHA-256 of the name. The name itself is not stored, because people sometimes type passwords into the name
     * field.
     */
    name_digest: string;
    /** Number of failures since `since`. */
    failures: number;
    since: number;
    /** Number of lockouts. Each lockout lasts twice as long as the previous one. */
    lockouts: number;
    locked_until: number;
    /** When the row expires. */
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
