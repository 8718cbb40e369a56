import {
  type AnyTransaction,
  addIdColumn,
  columnTypes,
  isPostgres,
  type MigrationSet,
} from '@waxwing/storage';
import { type Generated, type Kysely, type SelectType, sql, type Transaction } from 'kysely';

/** The tables of the job queue. Instants are in Unix milliseconds. */
export interface JobTables {
  /** Jobs that are not dead. A job with a lease is running. A job without a lease waits for `run_at`. */
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
    id: string;
    kind: string;
    payload: string;
    created_at: number;
    give_up_at: number;
    attempts: number;
    reason: string;
    died_at: number;
  };
  schedules: {
    name: string;
    due_at: number;
  };
}

export type JobRow = { [Column in keyof JobTables['jobs']]: SelectType<JobTables['jobs'][Column]> };

/** Returns the transaction's database handle, typed with the job tables. */
export function jobTables(transaction: AnyTransaction): Transaction<JobTables> {
  return transaction.db.withTables<Pick<JobTables, keyof JobTables>>();
}

export const jobMigrations: MigrationSet = {
  unit: 'jobs',
  isShared: true,
  migrations: {
    '0001-jobs': {
      async up(db: Kysely<unknown>): Promise<void> {
        if (!isPostgres(db)) {
          await createLeaseTable(db);
          await db.schema.createIndex('jobs_due').on('jobs').columns(['kind', 'run_at', 'id']).execute();
        }
        await db.schema
          .createTable('dead_jobs')
          .addColumn('id', columnTypes.text, (column) => column.primaryKey())
          .addColumn('kind', columnTypes.text, (column) => column.notNull())
          .addColumn('payload', columnTypes.text, (column) => column.notNull())
          .addColumn('created_at', columnTypes.integer, (column) => column.notNull())
          .addColumn('give_up_at', columnTypes.integer, (column) => column.notNull())
          .addColumn('attempts', columnTypes.integer, (column) => column.notNull())
          .addColumn('reason', columnTypes.text, (column) => column.notNull())
          .addColumn('died_at', columnTypes.integer, (column) => column.notNull())
          .execute();
        await db.schema.createIndex('dead_jobs_died_at').on('dead_jobs').column('died_at').execute();
        await db.schema
          .createTable('schedules')
          .addColumn('name', columnTypes.text, (column) => column.primaryKey())
          .addColumn('due_at', columnTypes.integer, (column) => column.notNull())
          .execute();
      },
    },
    '0002-dead-jobs-by-kind': {
      async up(db: Kysely<unknown>): Promise<void> {
        await db.schema.createIndex('dead_jobs_kind').on('dead_jobs').column('kind').execute();
      },
    },
    '0003-one-lease-table': {
      async up(db: Kysely<unknown>): Promise<void> {
        if (isPostgres(db)) await createLeaseTable(db);
        else await db.schema.dropIndex('jobs_due').execute();
        await createLeaseIndexes(db);
      },
    },
  },
};

async function createLeaseTable(db: Kysely<unknown>): Promise<void> {
  await addIdColumn(db, db.schema.createTable('jobs'))
    .addColumn('kind', columnTypes.text, (column) => column.notNull())
    .addColumn('payload', columnTypes.text, (column) => column.notNull())
    .addColumn('created_at', columnTypes.integer, (column) => column.notNull())
    .addColumn('run_at', columnTypes.integer, (column) => column.notNull())
    .addColumn('give_up_at', columnTypes.integer, (column) => column.notNull())
    .addColumn('attempt', columnTypes.integer, (column) => column.notNull())
    .addColumn('leased_until', columnTypes.integer)
    .addColumn('last_reason', columnTypes.text)
    .execute();
}

/** Creates two partial indexes. Each job is in exactly one of them, so a claim scans only jobs without a lease. */
async function createLeaseIndexes(db: Kysely<unknown>): Promise<void> {
  await sql`create index jobs_due on jobs (kind, run_at, id) where leased_until is null`.execute(db);
  await sql`create index jobs_leased on jobs (kind, leased_until) where leased_until is not null`.execute(db);
}
