import { fixedQuery, isAmongListed, listText, rowsAsTableOf, textsIn } from '@waxwing/storage';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { ServerTables } from '../../tables.js';

type Db = Kysely<ServerTables>;

/** Event texts, and the queues that get exactly these events. */
export interface SharedTexts {
  readonly texts: readonly string[];
  readonly queueIds: string[];
}

/**
 * Inserts events into locked queues: first each text once, then the rows of the queues, then their counters. The
 * parameters list each queue only once, regardless of the number of its texts. Thousands of queues can get the same
 * texts, and encoding a row as JSON costs more than storing it.
 */
export async function insertEvents(db: Db, shared: readonly SharedTexts[]): Promise<void> {
  const texts = [...new Set(shared.flatMap((each) => each.texts))].map((event) => ({ event }));
  const rows = await textsStored(db, { texts: JSON.stringify(texts) });
  const ids = new Map(rows.map(({ id, event }) => [event, id]));
  const alike = JSON.stringify(
    shared.map(({ queueIds }, kind) => ({ kind, queue_ids: JSON.stringify(queueIds) })),
  );
  const parts = shared.flatMap((each, kind) =>
    each.texts.map((text, index) => ({ kind, place: index + 1, text_id: ids.get(text) ?? 0 })),
  );
  await queued(db, { alike, parts: JSON.stringify(parts) });
  await counted(db, {
    queueIds: listText(
      db,
      shared.flatMap(({ queueIds }) => queueIds),
    ),
  });
}

const textsStored = fixedQuery<ServerTables, { readonly texts: string }, { id: number; event: string }>(
  (db, parameter) => ({
    compile: () =>
      sql<{ id: number; event: string }>`
        insert into event_texts (event)
        select v.event from ${rowsAsTableOf(db, 'v', { event: 'text' }, parameter('texts'))}
        returning id, event`.compile(db),
  }),
);

/** Returns the groups of queues with the same texts, as an SQL table that is read from a JSON array. */
function alikeTable(db: Db, json: string): RawBuilder<unknown> {
  return rowsAsTableOf(db, 'v', { kind: 'integer', queue_ids: 'text' }, json);
}

const partColumns = { kind: 'integer', place: 'integer', text_id: 'integer' } as const;

interface Queued {
  readonly alike: string;
  readonly parts: string;
}

const queued = fixedQuery<ServerTables, Queued, object>((db, parameter) => ({
  compile: () =>
    sql<object>`
      with alike as materialized (select * from ${alikeTable(db, parameter('alike'))}),
        part as materialized (select * from ${rowsAsTableOf(db, 'w', partColumns, parameter('parts'))})
      insert into queued_events (queue_id, event_id, text_id)
      select member.value, ${lastEventId('member.value')} + part.place, part.text_id
      from alike cross join ${textsIn(db, 'alike.queue_ids', 'member')} cross join part
      where part.kind = alike.kind`.compile(db),
}));

// A subquery with `limit` is a lookup for each queue. With a join, PostgreSQL would read all queues.
function lastEventId(queueId: string): RawBuilder<number> {
  return sql`(select last_event_id from event_queues where event_queues.queue_id = ${sql.ref(queueId)} limit 1)`;
}

const counted = fixedQuery<ServerTables, { readonly queueIds: string }, object>((db, parameter) => ({
  compile: () =>
    sql<object>`
      update event_queues set last_event_id = (
        select max(event_id) from queued_events where queued_events.queue_id = event_queues.queue_id
      )
      where ${isAmongListed(db, 'queue_id', 'text', parameter('queueIds'))}`.compile(db),
}));
