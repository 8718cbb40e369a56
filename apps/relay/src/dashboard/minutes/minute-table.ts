import { columnTypes } from '@waxwing/storage';
import type { Kysely } from 'kysely';

/** Tables of the dashboard's figures. */
export interface MinuteTables {
  /** Counts by minute, summed across all processes; kept for seven days. */
  minute_counts: {
    /** Minutes since 1970. */
    minute: number;
    /** `fcm`, `apns`, `webpush`, or empty for figures without a vendor. */
    vendor: string;
    outcome: string;
    amount: number;
  };
}

export async function createMinuteCounts(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('minute_counts')
    .addColumn('minute', columnTypes.integer, (column) => column.notNull())
    .addColumn('vendor', columnTypes.text, (column) => column.notNull())
    .addColumn('outcome', columnTypes.text, (column) => column.notNull())
    .addColumn('amount', columnTypes.integer, (column) => column.notNull())
    .addPrimaryKeyConstraint('minute_counts_key', ['minute', 'vendor', 'outcome'])
    .execute();
}
