import type { MessageId } from '@waxwing/protocol';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { PermissionHolder } from '../../../people/permissions/permission-store.js';
import type { ServerTables } from '../../../tables.js';
import { isReadable } from '../message-access.js';
import { messageFlags } from '../message-flags.js';
import { meBeginning, type ShownMessage, shownColumns, toShown } from '../message-store.js';
import { firstIdSince } from './first-since.js';
import type { NarrowCondition } from './narrow-condition.js';

type Db = Kysely<ServerTables>;

/** An anchor in a narrow and the number of messages to read around it. */
export interface Window {
  readonly anchor: number | 'newest' | 'oldest' | 'first_unread' | SinceInstant;
  readonly includesAnchor: boolean;
  readonly before: number;
  readonly after: number;
}

/** Anchor at the oldest message sent at or after a time, in Unix milliseconds. */
interface SinceInstant {
  readonly since: number;
}

/** An id greater than that of any message: the anchor after the newest message. */
const behindNewest = 10_000_000_000_000_000;

/** A message and the flags of the reader's copy. */
export interface FoundMessage {
  readonly message: ShownMessage;
  /** Bits of `messageFlags`. `undefined` if the reader has no copy. */
  readonly flags: number | undefined;
}

export interface FoundWindow<Found> {
  /** In ascending order. */
  readonly found: readonly Found[];
  readonly anchor: number;
  readonly foundAnchor: boolean;
  readonly foundOldest: boolean;
  readonly foundNewest: boolean;
}

/**
 * How much of the Markdown source to read. The beginning is enough for clients that get HTML, because it shows whether
 * the text is a `/me` message.
 */
export type ContentWanted = 'whole' | 'beginning';

/**
 * Returns the messages around an anchor that are in the narrow and that the reader may read. Runs at most four
 * statements.
 */
export async function findWindow(
  db: Db,
  reader: PermissionHolder,
  narrow: NarrowCondition,
  window: Window,
  content: ContentWanted,
): Promise<FoundWindow<FoundMessage>> {
  const anchor = await anchorOf(db, reader, narrow, window.anchor);
  const selected = columnsOf[content];
  return collectWindow(window, anchor, async (bounds) => {
    const rows = await select<FoundRow>(db, reader, narrow, { selected, ...within(orderOf(narrow), bounds) });
    return rows.map(toFound);
  });
}

/** Like {@link findWindow}, but returns only ids. */
export async function findWindowIds(
  db: Db,
  reader: PermissionHolder,
  narrow: NarrowCondition,
  window: Window,
): Promise<FoundWindow<MessageId>> {
  const anchor = await anchorOf(db, reader, narrow, window.anchor);
  return collectWindow(window, anchor, async (bounds) => {
    const rows = await select<IdRow>(db, reader, narrow, {
      selected: idAlone,
      ...within(orderOf(narrow), bounds),
    });
    return rows.map(({ id }) => id);
  });
}

/** A selection of messages before, at or after an anchor, nearest first. */
interface Bounds {
  readonly side: '<' | '=' | '>';
  readonly anchor: number;
  readonly limit: number;
}

async function collectWindow<Found>(
  window: Window,
  anchor: number,
  find: (bounds: Bounds) => Promise<Found[]>,
): Promise<FoundWindow<Found>> {
  const isNewest = anchor >= behindNewest;
  const isOldest = anchor <= 0;
  const looks = (side: Bounds['side'], limit: number) => (limit === 0 ? [] : find({ side, anchor, limit }));
  const before = isOldest ? [] : (await looks('<', window.before)).reverse();
  const at = isNewest || isOldest ? [] : await looks('=', window.includesAnchor ? 1 : 0);
  const after = isNewest ? [] : await looks('>', window.after);
  return {
    found: [...before, ...at, ...after],
    anchor,
    foundAnchor: at.length > 0,
    foundOldest: isOldest || before.length < window.before,
    foundNewest: isNewest || after.length < window.after,
  };
}

/** Returns the messages with these ids that are in the narrow and that the reader may read, in ascending order. */
export async function findAmong(
  db: Db,
  reader: PermissionHolder,
  narrow: NarrowCondition,
  ids: RawBuilder<MessageId>,
  content: ContentWanted,
): Promise<FoundMessage[]> {
  // Looks up each id among the matches: the matches of a search in a channel may be many.
  const among = { ...narrow, hasHistory: true, ordered: narrow.matches };
  const rows = await select<FoundRow>(db, reader, among, {
    selected: columnsOf[content],
    only: sql`${orderOf(among)} in ${ids}`,
    rest: sql`order by messages.id`,
  });
  return rows.map(toFound);
}

async function anchorOf(
  db: Db,
  reader: PermissionHolder,
  narrow: NarrowCondition,
  anchor: Window['anchor'],
): Promise<number> {
  if (anchor === 'newest') return behindNewest;
  if (anchor === 'oldest') return 0;
  if (typeof anchor === 'number') return Math.min(Math.max(anchor, 0), behindNewest);
  const only = await anchorCondition(db, narrow, anchor);
  if (only === undefined) return behindNewest;
  const rest = sql`order by ${orderOf(narrow)} limit 1`;
  const [row] = await select<IdRow>(db, reader, narrow, { selected: idAlone, only, rest });
  return row?.id ?? behindNewest;
}

/** Returns an SQL condition for messages that may be the anchor, or `undefined` if no message qualifies. */
async function anchorCondition(
  db: Db,
  narrow: NarrowCondition,
  anchor: 'first_unread' | SinceInstant,
): Promise<RawBuilder<boolean> | undefined> {
  if (anchor === 'first_unread') return sql`copy.flags & ${sql.raw(String(messageFlags.read))} = 0`;
  const id = await firstIdSince(db, anchor.since);
  return id === undefined ? undefined : sql`${orderOf(narrow)} >= ${id}`;
}

/** The parts of a query that do not depend on the narrow. */
interface Selection {
  readonly selected: RawBuilder<unknown>;
  /** An additional SQL condition. */
  readonly only: RawBuilder<unknown>;
  readonly rest: RawBuilder<unknown>;
}

/**
 * Selects from `messages` and `copy`. Written as raw SQL, because building the query with Kysely would take a third of
 * the statement's time.
 */
async function select<Row>(
  db: Db,
  reader: PermissionHolder,
  narrow: NarrowCondition,
  { selected, only, rest }: Selection,
): Promise<Row[]> {
  const { isAllReadable, hasHistory, ordered } = narrow;
  const condition = ordered
    ? sql`message_search match ${ordered.match} and ${ordered.condition}`
    : narrow.condition;
  const { rows } = await sql<Row>`
    select ${selected}
    from ${tablesOf(reader, narrow)}
    where ${condition} and ${only}
      ${isAllReadable ? sql`` : sql`and ${isReadable(reader)}`}
      ${hasHistory ? sql`` : sql`and copy.user_id = ${reader.id}`}
    ${rest}`.execute(db);
  return rows;
}

/**
 * Returns the join of `messages` and `copy`, preceded by the matches of a search. `cross join` makes SQLite keep this
 * order. If only copies are found, they come before the messages: a guest may have copies of very few of the matches.
 */
function tablesOf(reader: PermissionHolder, narrow: NarrowCondition): RawBuilder<unknown> {
  const copies = (id: RawBuilder<boolean>) =>
    sql`user_messages as copy on ${id} and copy.user_id = ${reader.id}`;
  if (narrow.ordered === undefined) return sql`messages left join ${copies(isCopyOf(narrow))}`;
  const messages = sql`messages on messages.id = message_search.rowid`;
  const copy = copies(sql`copy.message_id = message_search.rowid`);
  return narrow.hasHistory
    ? sql`message_search cross join ${messages} left join ${copy}`
    : sql`message_search cross join ${copy} cross join ${messages}`;
}

/**
 * Returns the condition that joins `messages` with the reader's copies. If no other index applies, the query starts
 * from the copies, which may be a small fraction of all messages. The unary plus prevents databases from scanning all
 * messages instead.
 */
function isCopyOf(narrow: NarrowCondition): RawBuilder<boolean> {
  return isByCopies(narrow)
    ? sql<boolean>`messages.id = + copy.message_id`
    : sql<boolean>`messages.id = copy.message_id`;
}

function isByCopies({ hasHistory, hasIndex }: NarrowCondition): boolean {
  return !hasHistory && !hasIndex;
}

/** Returns the column by which results are ordered. */
function orderOf(narrow: NarrowCondition): RawBuilder<unknown> {
  if (narrow.ordered !== undefined) return sql`message_search.rowid`;
  return isByCopies(narrow) ? sql`copy.message_id` : sql`messages.id`;
}

function within(
  order: RawBuilder<unknown>,
  { side, anchor, limit }: Bounds,
): Pick<Selection, 'only' | 'rest'> {
  return {
    only: sql`${order} ${sql.raw(side)} ${anchor}`,
    // Adds 0: SQLite would plan with the value of a bare parameter, and recompile the statement for each value.
    rest: sql`order by ${order} ${sql.raw(side === '<' ? 'desc' : 'asc')} limit ${limit} + 0`,
  };
}

const idAlone = sql`messages.id`;
const columnsOf: Readonly<Record<ContentWanted, RawBuilder<unknown>>> = {
  whole: columnsWith('messages.content'),
  beginning: columnsWith(`substr(messages.content, 1, ${meBeginning.length}) as content`),
};

/** Returns the columns of a {@link FoundRow}, with an expression for `content`. */
function columnsWith(content: string): RawBuilder<unknown> {
  const columns = shownColumns.map((name) => (name === 'content' ? content : `messages.${name}`));
  return sql.raw([...columns, 'copy.flags'].join(', '));
}

type IdRow = Pick<ShownMessage, 'id'>;
type FoundRow = Parameters<typeof toShown>[0] & { readonly flags: number | null };

function toFound(row: FoundRow): FoundMessage {
  return { message: toShown(row), flags: row.flags ?? undefined };
}
