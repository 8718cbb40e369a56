import type { Kysely } from 'kysely';
import type { PermissionHolder } from '../../people/permissions/permission-store.js';
import type { ServerTables } from '../../tables.js';
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

/** All channels that a user can see, by the user's subscription. Each list is sorted by name. */
export interface OwnSubscriptions {
  readonly subscriptions: SubscriptionRecord[];
  /** Channels that the user has left. */
  readonly unsubscribed: SubscriptionRecord[];
  readonly neverSubscribed: (ChannelRecord & { subscribers?: number[] })[];
}

/** Reads a user's channels, in a constant number of statements for any number of channels and users. */
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
