import type { UserId } from '@waxwing/protocol';
import { addIdColumn, columnTypes, inKeyOrder } from '@waxwing/storage';
import { type Generated, type Kysely, sql } from 'kysely';

/** Event queue tables. Times are Unix milliseconds. */
export interface EventQueueTables {
  event_queues: {
    queue_id: string;
    user_id: UserId;
    /** The queue's event types as a JSON array. Null means all types. */
    event_types: string | null;
    /** The client's capabilities as a JSON array. Null if it has no capabilities. */
    client_capabilities: string | null;
    /** 1 for messages as HTML, 0 for Markdown source. */
    applies_markdown: Generated<number>;
    /** 1 if the client derives the URLs of provider avatars itself. */
    makes_avatars: Generated<number>;
    /** 1 if the queue gets the messages from all public channels. */
    has_all_public_channels: Generated<number>;
    /** The narrow's terms as a JSON array. Null for all messages. */
    narrow: string | null;
    /** Id of the newest event, -1 before the first. */
    last_event_id: number;
    acknowledged_event_id: number;
    last_used_at: number;
    /** The queue expires after this time without a request. */
    lifetime_milliseconds: Generated<number>;
    /** The value of `last_event_id` at a server's start. Null once the client polls again. See `server-start.ts`. */
    newest_at_start: number | null;
  };
  /** Encoded events, deduplicated: each is stored once, regardless of the number of queues. */
  event_texts: {
    id: Generated<number>;
    /** JSON object without `id`. */
    event: string;
  };
  queued_events: {
    queue_id: string;
    event_id: number;
    text_id: number;
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

/** Stores each event text once, instead of one copy per queue. */
export async function shareEventTexts(db: Kysely<unknown>): Promise<void> {
  await addIdColumn(db, db.schema.createTable('event_texts'))
    .addColumn('event', text, (column) => column.notNull())
    .execute();
  await db.schema
    .createTable('queued_events')
    .addColumn('queue_id', text, (column) =>
      column.notNull().references('event_queues.queue_id').onDelete('cascade'),
    )
    .addColumn('event_id', integer, (column) => column.notNull())
    .addColumn('text_id', integer, (column) => column.notNull().references('event_texts.id'))
    .addPrimaryKeyConstraint('queued_events_id', ['queue_id', 'event_id'])
    .execute();
  await db.schema.createIndex('queued_events_text').on('queued_events').column('text_id').execute();
  await sql`insert into event_texts (event) select distinct event from events`.execute(db);
  await sql`
    insert into queued_events (queue_id, event_id, text_id)
    select events.queue_id, events.event_id, event_texts.id
    from events join event_texts on event_texts.event = events.event`.execute(db);
  await db.schema.dropTable('events').execute();
}

/** Adds the column with the client's capabilities. */
export async function addClientCapabilities(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('event_queues').addColumn('client_capabilities', text).execute();
}

/** Adds the columns that select which messages a queue gets, and in which format. */
export async function addMessageOptions(db: Kysely<unknown>): Promise<void> {
  const add = (name: string, value: number) =>
    db.schema
      .alterTable('event_queues')
      .addColumn(name, integer, (column) => column.notNull().defaultTo(value))
      .execute();
  await add('applies_markdown', 0);
  await add('makes_avatars', 1);
  await add('has_all_public_channels', 0);
  await db.schema.alterTable('event_queues').addColumn('narrow', text).execute();
  await sql`create index event_queues_all_public on event_queues (queue_id) where has_all_public_channels = 1`.execute(
    db,
  );
}

/** Adds the column with a queue's lifetime without a request. The default is ten minutes. */
export async function addQueueLifetimes(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('event_queues')
    .addColumn('lifetime_milliseconds', integer, (column) => column.notNull().defaultTo(600_000))
    .execute();
}

/**
 * Stores the rows of a queue's events next to each other. This halves the time to write an event for thousands of
 * queues.
 */
export async function putEventsInOrder(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('queued_events').renameTo('unordered_events').execute();
  const table = db.schema
    .createTable('queued_events')
    .addColumn('queue_id', text, (column) =>
      column.notNull().references('event_queues.queue_id').onDelete('cascade'),
    )
    .addColumn('event_id', integer, (column) => column.notNull())
    .addColumn('text_id', integer, (column) => column.notNull().references('event_texts.id'))
    .addPrimaryKeyConstraint('queued_events_place', ['queue_id', 'event_id']);
  await inKeyOrder(db, table).execute();
  await db.schema.createIndex('queued_events_of_text').on('queued_events').column('text_id').execute();
  await sql`
    insert into queued_events (queue_id, event_id, text_id)
    select queue_id, event_id, text_id from unordered_events`.execute(db);
  await db.schema.dropTable('unordered_events').execute();
}

/** Adds the column with a queue's newest event id at a server's start. */
export async function addNewestAtStart(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('event_queues').addColumn('newest_at_start', integer).execute();
}
