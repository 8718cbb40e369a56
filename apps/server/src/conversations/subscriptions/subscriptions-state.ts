import { encodePages } from '@waxwing/service/http';
import { z } from 'zod';
import { initialState } from '../../platform/event-queues/initial-state.js';
import { readInherited, withInherited } from '../channels/inherited-notifications.js';
import { readOwnSubscriptions } from '../channels/read-subscriptions.js';
import {
  type SubscriptionRecord,
  subscriptionRecord,
  unjoinedRecord,
} from '../channels/subscription-record.js';

/**
 * The user's current and former subscriptions, and the other channels that the user can see. Includes archived channels
 * if the client has `archived_channels`. Clients without `notification_settings_null` get the user's account-wide
 * settings instead of null.
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
    const settings = capabilities.includes('notification_settings_null')
      ? undefined
      : (await readInherited(db, [actor.id]))(actor.id);
    const written = (record: SubscriptionRecord) =>
      settings === undefined ? record : withInherited(record, settings);
    return {
      subscriptions: await encodePages(subscriptions, written),
      unsubscribed: await encodePages(unsubscribed, written),
      never_subscribed: await encodePages(neverSubscribed),
    };
  },
});
