import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { PermissionHolder } from '../../permissions/permission-store.js';
import type { ServerTables } from '../../tables.js';
import { isReadable } from '../message-access.js';
import { messageFlags } from '../message-flags.js';
import { type Message, toMessage } from '../message-store.js';
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
  readonly message: Message;
  /** Bits of `messageFlags`; `undefined` where there is no copy. */
  readonly flags: number | undefined;
}

export interface FoundWindow {
  /** In ascending order. */
  readonly found: readonly FoundMessage[];
  readonly anchor: number;
  readonly foundAnchor: boolean;
  readonly foundOldest: boolean;
  readonly foundNewest: boolean;
}

/** The messages of a narrow around its anchor that somebody may read: four statements at most. */
export async function findWindow(
  db: Db,
  reader: PermissionHolder,
  narrow: NarrowCondition,
  window: Window,
): Promise<FoundWindow> {
  const anchor = await anchorOf(db, reader, narrow, window.anchor);
  const isNewest = anchor >= behindNewest;
  const isOldest = anchor <= 0;
  const rows = () => narrowed(db, reader, narrow);
  const before = isOldest || window.before === 0 ? [] : await rowsBefore(rows, anchor, window.before);
  const at =
    window.includesAnchor && !isNewest && !isOldest ? await rows().where('id', '=', anchor).execute() : [];
  const after = isNewest || window.after === 0 ? [] : await rowsAfter(rows, anchor, window.after);
  return {
    found: [...before, ...at, ...after].map(toFound),
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
  ids: RawBuilder<number>,
): Promise<FoundMessage[]> {
  const rows = await narrowed(db, reader, { ...narrow, hasHistory: true })
    .where('id', 'in', ids)
    .orderBy('id')
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
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
  return row?.id ?? behindNewest;
}

function narrowed(db: Db, reader: PermissionHolder, narrow: NarrowCondition) {
  const { condition, isAllReadable, hasHistory } = narrow;
  return db
    .selectFrom('messages')
    .leftJoin('user_messages as copy', (join) =>
      join.onRef('copy.message_id', '=', 'messages.id').on('copy.user_id', '=', reader.id),
    )
    .selectAll('messages')
    .select('copy.flags')
    .$if(!isAllReadable, (query) => query.where(isReadable(reader)))
    .where(condition)
    .$if(!hasHistory, (query) => query.where('copy.user_id', 'is not', null));
}

type Rows = () => ReturnType<typeof narrowed>;

async function rowsBefore(rows: Rows, anchor: number, limit: number) {
  return (await rows().where('id', '<', anchor).orderBy('id', 'desc').limit(limit).execute()).reverse();
}

function rowsAfter(rows: Rows, anchor: number, limit: number) {
  return rows().where('id', '>', anchor).orderBy('id').limit(limit).execute();
}

type FoundRow = Awaited<ReturnType<ReturnType<Rows>['execute']>>[number];

function toFound({ flags, ...row }: FoundRow): FoundMessage {
  return { message: toMessage(row), flags: flags ?? undefined };
}
