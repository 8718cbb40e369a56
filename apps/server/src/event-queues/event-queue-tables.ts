import { columnTypes } from '@waxwing/storage';
import type { Kysely } from 'kysely';

/** Instants in Unix milliseconds. */
export interface EventQueueTables {
  event_queues: {
    queue_id: string;
    user_id: number;
    /** JSON array; null means all types. */
    event_types: string | null;
    /** Id of the newest event, -1 before the first. */
    last_event_id: number;
    acknowledged_event_id: number;
    last_used_at: number;
  };
  events: {
    queue_id: string;
    event_id: number;
    /** JSON object without `id`. */
    event: string;
  };
}

const { integer, text } = columnTypes;

export async function createEventQueues(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('event_queues')
    .addColumn('queue_id', text, (column) => column.primaryKey())
    .addColumn('user_id', integer, (column) => column.notNull())
    .addColumn('event_types', text)
    .addColumn('last_event_id', integer, (column) => column.notNull())
    .addColumn('acknowledged_event_id', integer, (column) => column.notNull())
    .addColumn('last_used_at', integer, (column) => column.notNull())
    .execute();
  await db.schema.createIndex('event_queues_user').on('event_queues').column('user_id').execute();
  await db.schema
    .createTable('events')
    .addColumn('queue_id', text, (column) =>
      column.notNull().references('event_queues.queue_id').onDelete('cascade'),
    )
    .addColumn('event_id', integer, (column) => column.notNull())
    .addColumn('event', text, (column) => column.notNull())
    .addPrimaryKeyConstraint('events_id', ['queue_id', 'event_id'])
    .execute();
}
