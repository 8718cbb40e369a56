import { columnTypes } from '@waxwing/storage';
import type { Generated, Kysely } from 'kysely';

/** Organization tables. Times are Unix milliseconds. */
export interface RealmTables {
  /** A single row with `id` 1. */
  realm: {
    id: number;
    uuid: string;
    created_at: number;
    /**
     * An opaque version of all users. Triggers replace it in each transaction that changes a user or a profile
     * (`user-tables.ts`).
     */
    users_version: Generated<string>;
  };
  /** Settings that differ from their default. */
  realm_settings: {
    name: string;
    /** JSON. */
    value: string;
  };
}

const { integer, text } = columnTypes;

export async function createRealm(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('realm')
    .addColumn('id', integer, (column) => column.primaryKey())
    .addColumn('uuid', text, (column) => column.notNull())
    .addColumn('created_at', integer, (column) => column.notNull())
    .execute();
}

export async function createRealmSettings(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('realm_settings')
    .addColumn('name', text, (column) => column.primaryKey())
    .addColumn('value', text, (column) => column.notNull())
    .execute();
}
