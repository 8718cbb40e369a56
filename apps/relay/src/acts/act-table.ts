import { addIdColumn, columnTypes } from '@waxwing/storage';
import type { Generated, Kysely } from 'kysely';

/** Audit log table of operators' actions. */
export interface ActTables {
  /** The last 10,000 actions taken in the dashboard or on the command line. */
  operator_acts: {
    id: Generated<number>;
    /** Unix milliseconds. */
    at: number;
    /** `dashboard` or `command line`. */
    actor: string;
    /** The command, such as `servers suspend`. */
    action: string;
    /** The target, such as a server's id. */
    subject: string;
    detail: string;
  };
}

export async function createOperatorActs(db: Kysely<unknown>): Promise<void> {
  await addIdColumn(db, db.schema.createTable('operator_acts'))
    .addColumn('at', columnTypes.integer, (column) => column.notNull())
    .addColumn('actor', columnTypes.text, (column) => column.notNull())
    .addColumn('action', columnTypes.text, (column) => column.notNull())
    .addColumn('subject', columnTypes.text, (column) => column.notNull())
    .addColumn('detail', columnTypes.text, (column) => column.notNull())
    .execute();
}
