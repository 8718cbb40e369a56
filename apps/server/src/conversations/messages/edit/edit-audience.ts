import type { MessageId, UserId } from '@waxwing/protocol';
import type { Kysely } from 'kysely';
import { roles } from '../../../platform/authentication/roles.js';
import type { ServerTables } from '../../../tables.js';
import type { Channel } from '../../channels/channel-store.js';
import { readersIn, subscribersIn } from '../message-readers.js';
import { type Loss, lossesAmong } from '../removal/losses.js';

type Db = Kysely<ServerTables>;
type Flags = ReadonlyMap<UserId, number | undefined>;

/** The channels of a message before and after an edit. Both are the same if the message stays. */
export interface EditedChannels {
  readonly origin: Channel;
  readonly target: Channel;
}

/**
 * Finds the users losing access to messages that are about to move to another channel: current readers of the old channel
 * who were subscribed to it at any time and are not subscribed to the new one. They lose access if the new channel is
 * private or, for guests, not web-public. If the old channel's history is protected, yields in batches of messages.
 */
export async function* findLosses(
  db: Db,
  { origin, target }: EditedChannels,
  ids: readonly MessageId[],
): AsyncGenerator<Loss[]> {
  if (origin.id === target.id) return;
  const rows = await db
    .selectFrom('subscriptions')
    .select('user_id')
    .where('channel_id', '=', origin.id)
    .execute();
  const ever = new Set(rows.map(({ user_id }) => user_id));
  const staying = new Set(await subscribersIn(db, target.id));
  const usersLosingAccess = (await readersIn(db, origin))
    .filter(({ role }) => (role === roles.guest ? !target.isWebPublic : target.isPrivate))
    .filter(({ id }) => ever.has(id) && !staying.has(id))
    .map(({ id }) => id);
  if (!origin.isHistoryPublic) yield* lossesAmong(db, usersLosingAccess, ids);
  else if (usersLosingAccess.length > 0) yield [{ ids, audience: usersLosingAccess }];
}

/**
 * The audience of an edit, with the flags of each user's copy after it: users who have a copy and can still read the
 * message. If history is public, also subscribers without a copy (flags `undefined`). Users who could not read the
 * message before the edit are excluded, because the event says where the message was.
 */
export async function updateAudience(
  db: Db,
  { origin, target }: EditedChannels,
  copies: ReadonlyMap<UserId, number>,
  usersLosingAccess: ReadonlySet<UserId>,
): Promise<Flags> {
  const isMoved = origin.id !== target.id;
  const inTarget = new Set(await subscribersIn(db, target.id));
  const inOrigin = isMoved ? new Set(await subscribersIn(db, origin.id)) : inTarget;
  const readers = await readersIn(db, target);
  const before = new Set((isMoved ? await readersIn(db, origin) : readers).map(({ id }) => id));
  const flagsOf = new Map<UserId, number | undefined>();
  for (const { id, role } of readers) {
    if (usersLosingAccess.has(id)) continue;
    // A user who is not subscribed to the target channel has lost the copy.
    const keepsCopy = copies.has(id) && (!isMoved || inTarget.has(id));
    const reads = target.isHistoryPublic || (isMoved ? inTarget.has(id) : keepsCopy);
    const isOutsider = role === roles.guest && !inOrigin.has(id);
    const follows = origin.isHistoryPublic && !isOutsider && (inTarget.has(id) || inOrigin.has(id));
    if (reads && before.has(id) && (copies.has(id) || follows))
      flagsOf.set(id, keepsCopy ? copies.get(id) : undefined);
  }
  return flagsOf;
}
