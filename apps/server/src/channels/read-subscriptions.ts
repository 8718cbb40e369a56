import type { Kysely } from 'kysely';
import type { PermissionHolder } from '../permissions/permission-store.js';
import type { ServerTables } from '../tables.js';
import { readSubscribers } from './channel-audience.js';
import type { ChannelRecord } from './channel-record.js';
import { compareNames } from './compare-names.js';
import { readKnownChannels } from './known-channels.js';
import { readChannelRecords } from './read-channel-records.js';
import { type SubscriptionRecord, writeSubscription } from './subscription-record.js';
import { subscriptionsOf } from './subscription-store.js';

interface Wanted {
  readonly includesSubscribers: boolean;
  readonly includesArchived: boolean;
  /** Unix milliseconds. */
  readonly now: number;
}

/** Everything that a user may know of the channels, each list by name. */
export interface OwnSubscriptions {
  readonly subscriptions: SubscriptionRecord[];
  /** What the user has left. */
  readonly unsubscribed: SubscriptionRecord[];
  readonly neverSubscribed: (ChannelRecord & { subscribers?: number[] })[];
}

/** Reads it in a number of statements that does not grow with channels or users. */
export async function readOwnSubscriptions(
  db: Kysely<ServerTables>,
  actor: PermissionHolder,
  { includesSubscribers, includesArchived, now }: Wanted,
): Promise<OwnSubscriptions> {
  const channels = (await readKnownChannels(db, actor))
    .map(({ channel }) => channel)
    .filter(({ isArchived }) => includesArchived || !isArchived)
    .sort(compareNames);
  const ids = channels.map(({ id }) => id);
  const records = await readChannelRecords(db, channels, now);
  const own = new Map((await subscriptionsOf(db, actor.id)).map((row) => [row.channel_id, row]));
  const subscribers = includesSubscribers ? await readSubscribers(db, ids) : undefined;
  const found: OwnSubscriptions = { subscriptions: [], unsubscribed: [], neverSubscribed: [] };
  for (const id of ids) {
    const record = records.get(id);
    if (record === undefined) continue;
    const row = own.get(id);
    const users = subscribers === undefined ? undefined : (subscribers.get(id) ?? []);
    if (row === undefined) {
      found.neverSubscribed.push({ ...record, ...(users === undefined ? {} : { subscribers: users }) });
    } else {
      const list = row.is_active === 1 ? found.subscriptions : found.unsubscribed;
      list.push(writeSubscription(record, row, users));
    }
  }
  return found;
}
