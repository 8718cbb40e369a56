import { columnTypes, type Database, type MigrationSet } from '@waxwing/storage';
import type { Kysely } from 'kysely';

/** What the key ring keeps in the relay's database. Instants in Unix milliseconds. */
export interface KeyRingTables {
  bouncer_key_uses: {
    public_key: string;
    /** Days since the Unix epoch, UTC. */
    day: number;
    /** Concurrent writers count in different rows, so that none waits for another; a day's use is the sum. */
    slot: number;
    registrations: number;
    last_used_at: number;
  };
  /** One row, for relays that share their ring through the database. */
  key_rings: {
    name: string;
    /** ASCII-armoured age file. */
    encrypted: string;
  };
}

/** As much of a database as the key ring uses, whatever else is in it. */
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
