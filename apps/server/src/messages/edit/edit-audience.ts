import type { MessageId, UserId } from '@waxwing/protocol';
import type { Kysely } from 'kysely';
import type { Channel } from '../../channels/channel-store.js';
import { roles } from '../../permissions/roles.js';
import type { ServerTables } from '../../tables.js';
import { readersIn, subscribersIn } from '../message-readers.js';
import { type Loss, lossesAmong } from '../removal/losses.js';

type Db = Kysely<ServerTables>;
type Flags = ReadonlyMap<UserId, number | undefined>;

/** The channels of a message before and after an edit; the same one where it stays. */
export interface EditedChannels {
  readonly origin: Channel;
  readonly target: Channel;
}

/**
 * Who can no longer see messages that are about to go to another channel: of those who were ever in the old one and can
 * still see them there, whoever is not in the new one, if it is private or they are guests. Of many messages with protected
 * history a piece at a time.
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
  const losers = (await readersIn(db, origin))
    .filter(({ role }) => (role === roles.guest ? !target.isWebPublic : target.isPrivate))
    .filter(({ id }) => ever.has(id) && !staying.has(id))
    .map(({ id }) => id);
  if (!origin.isHistoryPublic) yield* lossesAmong(db, losers, ids);
  else if (losers.length > 0) yield [{ ids, audience: losers }];
}

/**
 * Who is told of the edit of a message, with the flags of their copies after it: whoever has one and can still see it, and
 * where history is public those who are in its channel without one (`undefined`). Who could not see it before is not told:
 * the change says where it was.
 */
export async function updateAudience(
  db: Db,
  { origin, target }: EditedChannels,
  copies: ReadonlyMap<UserId, number>,
  losers: ReadonlySet<UserId>,
): Promise<Flags> {
  const isMoved = origin.id !== target.id;
  const inTarget = new Set(await subscribersIn(db, target.id));
  const inOrigin = isMoved ? new Set(await subscribersIn(db, origin.id)) : inTarget;
  const readers = await readersIn(db, target);
  const before = new Set((isMoved ? await readersIn(db, origin) : readers).map(({ id }) => id));
  const flagsOf = new Map<UserId, number | undefined>();
  for (const { id, role } of readers) {
    if (losers.has(id)) continue;
    // Whoever is not in the channel that a message goes to has lost the copy.
    const keepsCopy = copies.has(id) && (!isMoved || inTarget.has(id));
    const reads = target.isHistoryPublic || (isMoved ? inTarget.has(id) : keepsCopy);
    const isStranger = role === roles.guest && !inOrigin.has(id);
    const follows = origin.isHistoryPublic && !isStranger && (inTarget.has(id) || inOrigin.has(id));
    if (reads && before.has(id) && (copies.has(id) || follows))
      flagsOf.set(id, keepsCopy ? copies.get(id) : undefined);
  }
  return flagsOf;
}
