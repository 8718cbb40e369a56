import type { MessageId, UserId } from '@waxwing/protocol';
import { amongNumbers } from '@waxwing/storage';
import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { PermissionHolder } from '../../../people/permissions/permission-store.js';
import { roles } from '../../../platform/authentication/roles.js';
import type { ServerTables } from '../../../tables.js';
import { readAudience, subscribersAmong } from '../../channels/channel-audience.js';
import type { Channel } from '../../channels/channel-store.js';
import { copiesOfMessage } from '../message-readers.js';

type Db = Kysely<ServerTables>;
type Flags = ReadonlyMap<UserId, number | undefined>;

/** The channels of a message before and after an edit. Both are the same if the message stays in its channel. */
export interface EditedChannels {
  readonly origin: Channel;
  readonly target: Channel;
}

/** Selects the users in a list who lose access to the moved messages. */
export type LosingAccess = (among: readonly PermissionHolder[]) => Promise<readonly UserId[]>;

/**
 * Returns which of these users lose access to messages that move to another channel. They are readers of the old
 * channel who are or were subscribed to it, and are not subscribed to the new one. They lose access if the new channel
 * is private or, for guests, not web-public. The result is the same before and after the move.
 */
export async function losingAccess(
  db: Db,
  { origin, target }: EditedChannels,
  among: readonly PermissionHolder[],
): Promise<UserId[]> {
  if (origin.id === target.id) return [];
  const possible = among.filter(({ role }) =>
    role === roles.guest ? !target.isWebPublic : target.isPrivate,
  );
  if (possible.length === 0) return [];
  const ids = possible.map(({ id }) => id);
  const rows = await db
    .selectFrom('subscriptions')
    .select('user_id')
    .where('channel_id', '=', origin.id)
    .where('user_id', 'in', amongNumbers(db, ids))
    .execute();
  const ever = new Set(rows.map(({ user_id }) => user_id));
  const staying = (await subscribersAmong(db, [target.id], ids)).get(target.id);
  const readers = (await readAudience(db, { channel: origin }, possible)).reading();
  return readers.map(({ id }) => id).filter((id) => ever.has(id) && !staying?.has(id));
}

/**
 * Returns an SQL condition on rows of `users`: the user has a copy of the message or is subscribed to the channel. It
 * selects the whole audience of an edit within a channel, and possibly other users.
 */
export function mayFollow(messageId: MessageId, channel: Channel): RawBuilder<SqlBool> {
  return sql<SqlBool>`(
    exists (
      select 1 from subscriptions
      where subscriptions.channel_id = ${channel.id} and subscriptions.user_id = users.id and subscriptions.is_active = 1
    )
    or exists (
      select 1 from user_messages
      where user_messages.message_id = ${messageId} and user_messages.user_id = users.id
    )
  )`;
}

/** An edited message, with the facts needed to find its readers. */
interface EditedForReaders {
  readonly messageId: MessageId;
  readonly channels: EditedChannels;
  /**
   * The flags of all copies after the edit. Given only for a move to another channel, which deletes copies; otherwise
   * the copies are read.
   */
  readonly copies: ReadonlyMap<UserId, number> | undefined;
  readonly losingAccess: LosingAccess;
}

/**
 * Returns which of these users are in the audience of an edit, with the flags of each user's copy after the edit. The
 * audience consists of the users who have a copy and can still read the message. If history is public, it includes
 * subscribers without a copy (flags `undefined`). It excludes users who could not read the message before the edit,
 * because the event contains the message's previous location.
 */
export async function updateAudience(
  db: Db,
  { messageId, channels: { origin, target }, copies: known, losingAccess }: EditedForReaders,
  among: readonly PermissionHolder[],
): Promise<Flags> {
  const isMoved = origin.id !== target.id;
  const ids = among.map(({ id }) => id);
  const copies = known ?? (await copiesOfMessage(db, messageId, ids));
  const subscribed = await subscribersAmong(db, [origin.id, target.id], ids);
  const isIn = ({ id: channelId }: Channel, id: UserId) => subscribed.get(channelId)?.has(id) ?? false;
  const readers = (await readAudience(db, { channel: target }, among)).reading();
  const readersBefore = isMoved ? (await readAudience(db, { channel: origin }, among)).reading() : readers;
  const before = new Set(readersBefore.map(({ id }) => id));
  const losing = new Set(await losingAccess(among));
  const flagsOf = new Map<UserId, number | undefined>();
  for (const { id, role } of readers) {
    if (losing.has(id)) continue;
    const [inTarget, inOrigin] = [isIn(target, id), isIn(origin, id)];
    // A user who is not subscribed to the target channel has lost the copy.
    const keepsCopy = copies.has(id) && (!isMoved || inTarget);
    const reads = target.isHistoryPublic || (isMoved ? inTarget : keepsCopy);
    const isOutsider = role === roles.guest && !inOrigin;
    const follows = origin.isHistoryPublic && !isOutsider && (inTarget || inOrigin);
    if (reads && before.has(id) && (copies.has(id) || follows))
      flagsOf.set(id, keepsCopy ? copies.get(id) : undefined);
  }
  return flagsOf;
}
