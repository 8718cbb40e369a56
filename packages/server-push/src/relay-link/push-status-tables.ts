import { columnTypes } from '@waxwing/storage';
import type { Kysely } from 'kysely';

/** The push status that was last published to clients. */
export interface PushStatusTables {
  /** The status in the last event to clients, in a single row with `id` 1. Before the first event there is no row. */
  published_push_status: {
    id: number;
    /** 1 if notifications are sent, otherwise 0. */
    can_push: number;
    /** Unix seconds. */
    push_end_timestamp: number | null;
  };
}

export async function addRealmPushStatus({ schema }: Kysely<unknown>): Promise<void> {
  const { integer } = columnTypes;
  await schema.alterTable('relay_link').addColumn('can_push', integer).execute();
  await schema.alterTable('relay_link').addColumn('push_end_timestamp', integer).execute();
}

export async function createPublishedPushStatus({ schema }: Kysely<unknown>): Promise<void> {
  const { integer } = columnTypes;
  await schema
    .createTable('published_push_status')
    .addColumn('id', integer, (column) => column.primaryKey())
    .addColumn('can_push', integer, (column) => column.notNull())
    .addColumn('push_end_timestamp', integer)
    .execute();
}
