import { z } from 'zod';
import { readOwnSubscriptions } from '../channels/read-subscriptions.js';
import {
  type SubscriptionRecord,
  subscriptionRecord,
  unjoinedRecord,
} from '../channels/subscription-record.js';
import { initialState } from '../event-queues/initial-state.js';
import { readUserSettings } from '../user-settings/user-setting-store.js';
import type { UserSettingName, UserSettingValues } from '../user-settings/user-settings.js';

/**
 * What the user is in, has left and may join; archived channels for clients that can tell them apart. Clients that do
 * not know of notifications that are as in the user's own settings get these.
 */
export const subscriptionsState = initialState({
  eventType: 'subscription',
  shape: z.object({
    subscriptions: z.array(subscriptionRecord),
    unsubscribed: z.array(subscriptionRecord),
    never_subscribed: z.array(unjoinedRecord),
  }),
  async fetch({ clock, database: { db } }, actor, { capabilities, includesSubscribers }) {
    const includesArchived = capabilities.includes('archived_channels');
    const wanted = { includesSubscribers, includesArchived, now: clock() };
    const { subscriptions, unsubscribed, neverSubscribed } = await readOwnSubscriptions(db, actor, wanted);
    const own = { subscriptions, unsubscribed, never_subscribed: neverSubscribed };
    if (capabilities.includes('notification_settings_null')) return own;
    const settings = await readUserSettings(db, actor.id);
    const filled = (records: readonly SubscriptionRecord[]) =>
      records.map((record) => withOwnNotifications(record, settings));
    return { ...own, subscriptions: filled(subscriptions), unsubscribed: filled(unsubscribed) };
  },
});

/** The user's own settings that hold where a subscription says nothing. */
const inherited = {
  desktop_notifications: 'enable_stream_desktop_notifications',
  audible_notifications: 'enable_stream_audible_notifications',
  push_notifications: 'enable_stream_push_notifications',
  email_notifications: 'enable_stream_email_notifications',
  wildcard_mentions_notify: 'wildcard_mentions_notify',
} as const satisfies Partial<Record<keyof SubscriptionRecord, UserSettingName>>;

/** The subscription with the user's own settings in the place of each null. */
function withOwnNotifications(record: SubscriptionRecord, settings: UserSettingValues): SubscriptionRecord {
  const names = Object.keys(inherited) as (keyof typeof inherited)[];
  const entries = names.map((name) => [name, record[name] ?? settings[inherited[name]]]);
  return { ...record, ...Object.fromEntries(entries) };
}
