import type { UserId } from '@waxwing/protocol';
import { addIdColumn, columnTypes, inKeyOrder } from '@waxwing/storage';
import { type Generated, type Kysely, sql } from 'kysely';

/** Instants in Unix milliseconds. */
export interface EventQueueTables {
  event_queues: {
    queue_id: string;
    user_id: UserId;
    /** JSON array; null means all types. */
    event_types: string | null;
    /** JSON array of what its client can do; null means none of it. */
    client_capabilities: string | null;
    /** Whether its messages are HTML; source otherwise. */
    applies_markdown: Generated<number>;
    /** Whether its client makes the URLs of the provider's pictures itself. */
    makes_avatars: Generated<number>;
    /** Whether it gets the messages of all public channels. */
    has_all_public_channels: Generated<number>;
    /** JSON array of the terms that messages must meet; null for all messages. */
    narrow: string | null;
    /** Id of the newest event, -1 before the first. */
    last_event_id: number;
    acknowledged_event_id: number;
    last_used_at: number;
    /** After so long without a request it is gone. */
    lifetime_milliseconds: Generated<number>;
    /** `last_event_id` at a server's start, until its client asks again; see `server-start.ts`. */
    newest_at_start: number | null;
  };
  /** What is in queues, each text once however many queues it is in. */
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

/** Gives each event's text a row of its own, where each queue had a copy. */
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

/** Keeps with each queue what its client can do. */
export async function addClientCapabilities(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('event_queues').addColumn('client_capabilities', text).execute();
}

/** Keeps with each queue which messages its client wants, and in what form. */
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

/** Keeps with each queue how long it stays without a request; ten minutes where nothing was said. */
export async function addQueueLifetimes(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('event_queues')
    .addColumn('lifetime_milliseconds', integer, (column) => column.notNull().defaultTo(600_000))
    .execute();
}

/** Keeps the events of a queue next to each other: one that is for thousands of queues is written in half the time. */
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

/** Keeps with each queue how far it was when a server started. */
export async function addNewestAtStart(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('event_queues').addColumn('newest_at_start', integer).execute();
}
