import { columnTypes, type Database, type MigrationSet } from '@waxwing/storage';
import type { Kysely } from 'kysely';

/** The key ring's tables in the relay's database. Times in Unix milliseconds. */
export interface KeyRingTables {
  bouncer_key_uses: {
    public_key: string;
    /** Days since the Unix epoch, UTC. */
    day: number;
    /**
     * Spreads concurrent writers across several rows, so that they do not wait for each other's locks. A key's use on a
     * day is the sum over all slots.
     */
    slot: number;
    registrations: number;
    last_used_at: number;
  };
  /** The ring, if it is in the database. `keys move` adds a second row for the copy of a moved ring. */
  key_rings: {
    name: string;
    /** ASCII-armored age file. */
    encrypted: string;
  };
}

/** The part of the database that the key ring uses. */
export type KeyRingDatabase = Pick<Database<KeyRingTables>, 'db' | 'write'>;

export const keyRingMigrations: MigrationSet = {
  unit: 'keyring',
  migrations: {
    '0001-uses-and-ring': {
      async up(db: Kysely<unknown>): Promise<void> {
        await db.schema
          .createTable('bouncer_key_uses')
          .addColumn('public_key', columnTypes.text, (column) => column.notNull())
          .addColumn('day', columnTypes.integer, (column) => column.notNull())
          .addColumn('slot', columnTypes.integer, (column) => column.notNull())
          .addColumn('registrations', columnTypes.integer, (column) => column.notNull())
          .addColumn('last_used_at', columnTypes.integer, (column) => column.notNull())
          .addPrimaryKeyConstraint('bouncer_key_uses_key', ['public_key', 'day', 'slot'])
          .execute();
        await db.schema
          .createTable('key_rings')
          .addColumn('name', columnTypes.text, (column) => column.primaryKey())
          .addColumn('encrypted', columnTypes.text, (column) => column.notNull())
          .execute();
      },
    },
  },
};
