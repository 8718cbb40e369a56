import { type Generated, type Kysely, sql } from 'kysely';
import type { MigrationSet } from '../migrate.js';

/** The lease table of the job queue on SQLite, and its dead letters. Instants in Unix milliseconds. */
export interface JobTables {
  jobs: {
    id: Generated<number>;
    kind: string;
    payload: string;
    created_at: number;
    run_at: number;
    give_up_at: number;
    attempt: number;
    leased_until: number | null;
    last_reason: string | null;
  };
  dead_jobs: {
    id: number;
    kind: string;
    payload: string;
    created_at: number;
    attempts: number;
    reason: string;
    died_at: number;
  };
}

export const jobMigrations: MigrationSet = {
  unit: 'jobs',
  migrations: {
    '0001-jobs': {
      async up(db: Kysely<unknown>): Promise<void> {
        await db.schema
          .createTable('jobs')
          .addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
          .addColumn('kind', 'text', (column) => column.notNull())
          .addColumn('payload', 'text', (column) => column.notNull())
          .addColumn('created_at', 'integer', (column) => column.notNull())
          .addColumn('run_at', 'integer', (column) => column.notNull())
          .addColumn('give_up_at', 'integer', (column) => column.notNull())
          .addColumn('attempt', 'integer', (column) => column.notNull())
          .addColumn('leased_until', 'integer')
          .addColumn('last_reason', 'text')
          .execute();
        await sql`create index jobs_due on jobs (kind, run_at, id)`.execute(db);
        await db.schema
          .createTable('dead_jobs')
          .addColumn('id', 'integer', (column) => column.primaryKey())
          .addColumn('kind', 'text', (column) => column.notNull())
          .addColumn('payload', 'text', (column) => column.notNull())
          .addColumn('created_at', 'integer', (column) => column.notNull())
          .addColumn('attempts', 'integer', (column) => column.notNull())
          .addColumn('reason', 'text', (column) => column.notNull())
          .addColumn('died_at', 'integer', (column) => column.notNull())
          .execute();
      },
    },
  },
};
