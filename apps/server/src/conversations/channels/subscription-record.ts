import type { JsonObject, UserId } from '@waxwing/protocol';
import type { Selectable } from 'kysely';
import { z } from 'zod';
import type { ServerTables } from '../../tables.js';
import { type ChannelRecord, channelRecord } from './channel-record.js';

/** A subscription's notification setting. Null if the user's account-wide setting applies. */
const notification = z.boolean().nullable();

/** The fields of a subscription that are the user's own settings. */
const personalFields = {
  color: z.string(),
  is_muted: z.boolean(),
  in_home_view: z.boolean(),
  pin_to_top: z.boolean(),
  desktop_notifications: notification,
  audible_notifications: notification,
  push_notifications: notification,
  email_notifications: notification,
  wildcard_mentions_notify: notification,
};

const subscribers = z.array(z.number().int()).optional();

/** A channel that a user is or was subscribed to. */
export const subscriptionRecord = channelRecord
  .extend({ ...personalFields, subscribers })
  .meta({ schemaName: 'Subscription' });

/** A channel that a user can see but was never subscribed to. */
export const unjoinedRecord = channelRecord.extend({ subscribers });

export type SubscriptionRow = Selectable<ServerTables['subscriptions']>;

export type SubscriptionRecord = z.input<typeof subscriptionRecord> & JsonObject;

/** Builds the record of a subscription for responses and events. Includes `subscribers` only if they are given. */
export function writeSubscription(
  channel: ChannelRecord,
  row: SubscriptionRow,
  subscriberIds?: readonly UserId[],
): SubscriptionRecord {
  const flag = (value: number | null) => (value === null ? null : value === 1);
  return {
    ...channel,
    color: row.color,
    is_muted: row.is_muted === 1,
    in_home_view: row.is_muted === 0,
    pin_to_top: row.pin_to_top === 1,
    desktop_notifications: flag(row.desktop_notifications),
    audible_notifications: flag(row.audible_notifications),
    push_notifications: flag(row.push_notifications),
    email_notifications: flag(row.email_notifications),
    wildcard_mentions_notify: flag(row.wildcard_mentions_notify),
    ...(subscriberIds === undefined ? {} : { subscribers: [...subscriberIds] }),
  };
}
