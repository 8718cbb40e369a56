import type { MessageId } from '@waxwing/protocol';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { PermissionHolder } from '../../permissions/permission-store.js';
import type { ServerTables } from '../../tables.js';
import { isReadable } from '../message-access.js';
import { messageFlags } from '../message-flags.js';
import { meBeginning, type ShownMessage, shownColumns, toShown } from '../message-store.js';
import type { NarrowCondition } from './narrow-condition.js';

type Db = Kysely<ServerTables>;

/** Where to begin in a narrow, and how far to go from there. */
export interface Window {
  readonly anchor: number | 'newest' | 'oldest' | 'first_unread';
  readonly includesAnchor: boolean;
  readonly before: number;
  readonly after: number;
}

/** Greater than any id: the anchor behind the newest message. */
const behindNewest = 10_000_000_000_000_000;

/** A message, and the reader's copy. */
export interface FoundMessage {
  readonly message: ShownMessage;
  /** Bits of `messageFlags`; `undefined` where there is no copy. */
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
 * How much is read of what messages were written as: all of it, or, for those who get HTML, only how it begins, which tells
 * what somebody says of themselves.
 */
export type ContentWanted = 'whole' | 'beginning';

/** The messages of a narrow around its anchor that somebody may read: four statements at most. */
export async function findWindow(
  db: Db,
  reader: PermissionHolder,
  narrow: NarrowCondition,
  window: Window,
  content: ContentWanted,
): Promise<FoundWindow<FoundMessage>> {
  const anchor = await anchorOf(db, reader, narrow, window.anchor);
  return gatherWindow(window, anchor, async (bounds) => {
    const rows = within(narrowed(db, reader, narrow), orderOf(narrow), bounds);
    return (await rows.select(columnsOf(content)).execute()).map(toFound);
  });
}

/** As {@link findWindow}, the ids alone. */
export async function findWindowIds(
  db: Db,
  reader: PermissionHolder,
  narrow: NarrowCondition,
  window: Window,
): Promise<FoundWindow<MessageId>> {
  const anchor = await anchorOf(db, reader, narrow, window.anchor);
  return gatherWindow(window, anchor, async (bounds) => {
    const rows = within(narrowed(db, reader, narrow), orderOf(narrow), bounds);
    return (await rows.select('messages.id').execute()).map(({ id }) => id);
  });
}

/** Messages on one side of an anchor, or at it; those that are nearest to it come first. */
interface Bounds {
  readonly side: '<' | '=' | '>';
  readonly anchor: number;
  readonly limit: number;
}

async function gatherWindow<Found>(
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

/** The messages with these ids that somebody may read and that are in the narrow, in ascending order. */
export async function findAmong(
  db: Db,
  reader: PermissionHolder,
  narrow: NarrowCondition,
  ids: RawBuilder<MessageId>,
  content: ContentWanted,
): Promise<FoundMessage[]> {
  const rows = await narrowed(db, reader, { ...narrow, hasHistory: true })
    .where('id', 'in', ids)
    .orderBy('id')
    .select(columnsOf(content))
    .execute();
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
  if (anchor !== 'first_unread') return Math.min(Math.max(anchor, 0), behindNewest);
  const row = await narrowed(db, reader, narrow)
    .where(sql<boolean>`copy.flags & ${sql.raw(String(messageFlags.read))} = 0`)
    .orderBy(orderOf(narrow))
    .limit(1)
    .select('messages.id')
    .executeTakeFirst();
  return row?.id ?? behindNewest;
}

function narrowed(db: Db, reader: PermissionHolder, narrow: NarrowCondition) {
  const { condition, isAllReadable, hasHistory } = narrow;
  return db
    .selectFrom('messages')
    .leftJoin('user_messages as copy', (join) => join.on(isCopyOf(narrow)).on('copy.user_id', '=', reader.id))
    .$if(!isAllReadable, (query) => query.where(isReadable(reader)))
    .where(condition)
    .$if(!hasHistory, (query) => query.where('copy.user_id', '=', reader.id));
}

/**
 * Where nothing else leads to the messages, the reader's copies do: they may be few of all that there are. The plus keeps
 * databases from walking over everybody's messages instead.
 */
function isCopyOf(narrow: NarrowCondition): RawBuilder<boolean> {
  return isByCopies(narrow)
    ? sql<boolean>`messages.id = + copy.message_id`
    : sql<boolean>`messages.id = copy.message_id`;
}

function isByCopies({ hasHistory, hasIndex }: NarrowCondition): boolean {
  return !hasHistory && !hasIndex;
}

/** The column in whose order messages are found. */
function orderOf(narrow: NarrowCondition) {
  return isByCopies(narrow) ? ('copy.message_id' as const) : ('messages.id' as const);
}

function within(
  rows: ReturnType<typeof narrowed>,
  order: ReturnType<typeof orderOf>,
  { side, anchor, limit }: Bounds,
) {
  return rows
    .where(order, side, sql<MessageId>`${anchor}`)
    .orderBy(order, side === '<' ? 'desc' : 'asc')
    .limit(limit);
}

const columns = shownColumns.map((name) => `messages.${name}` as const);
const beginning = sql<string>`substr(messages.content, 1, ${sql.lit(meBeginning.length)})`.as('content');

function columnsOf(content: ContentWanted) {
  const read = content === 'whole' ? columns : columns.filter((name) => name !== 'messages.content');
  return [...read, ...(content === 'whole' ? [] : [beginning]), 'copy.flags' as const];
}

type FoundRow = Parameters<typeof toShown>[0] & { readonly flags: number | null };

function toFound(row: FoundRow): FoundMessage {
  return { message: toShown(row), flags: row.flags ?? undefined };
}
