import type { ChannelId, UserId } from '@waxwing/protocol';
import { ascendingNumbers, isAmong, isPostgres } from '@waxwing/storage';
import type { Kysely } from 'kysely';
import {
  listMembers,
  memberPieces,
  membersPerPiece,
  type PieceStart,
} from '../../people/permissions/member-lists.js';
import type { ServerTables } from '../../tables.js';

type Db = Kysely<ServerTables>;

/** Returns the active subscribers of each channel, in ascending order. Omits channels without active subscribers. */
export function readSubscribers(
  db: Db,
  channelIds: readonly ChannelId[],
): Promise<ReadonlyMap<ChannelId, UserId[]>> {
  return listMembers(channelIds, (start) =>
    subscribersIn(db, start).select(ascendingNumbers(db, 'user_id').as('ids')).execute(),
  );
}

/** Returns the number of active subscribers of each channel. Omits channels without active subscribers. */
export async function countSubscribers(
  db: Db,
  channelIds: readonly ChannelId[],
): Promise<ReadonlyMap<ChannelId, number>> {
  const found = new Map<ChannelId, number>();
  for await (const rows of memberPieces(channelIds, (start) => subscribersIn(db, start).execute())) {
    for (const { owner, members } of rows) found.set(owner, (found.get(owner) ?? 0) + Number(members));
  }
  return found;
}

function subscribersIn(db: Db, { owners, first, after }: PieceStart<ChannelId>) {
  const pairs = db
    .selectFrom('subscriptions')
    .innerJoin('users', 'users.id', 'subscriptions.user_id')
    .where('subscriptions.is_active', '=', 1)
    .where('users.is_active', '=', 1)
    .where(isAmong(db, 'channel_id', 'integer', owners))
    .where((is) => is.or([is('channel_id', '>', first), is('user_id', '>', after)]))
    .select(['channel_id as owner', 'user_id'])
    .$if(!isPostgres(db), (query) => query.orderBy('channel_id').orderBy('user_id').limit(membersPerPiece));
  return db
    .selectFrom(pairs.as('pair'))
    .groupBy('owner')
    .select(({ fn }) => ['owner', fn.countAll().as('members'), fn.max('user_id').as('last')]);
}
