import { booleanParameter, ListAnswer, operation } from '@waxwing/service/http';
import { z } from 'zod';
import type { ServerContext } from '../../context.js';
import { user } from '../../platform/authentication/authenticate.js';
import { readOwnSubscriptions } from '../channels/read-subscriptions.js';
import { subscriptionRecord } from '../channels/subscription-record.js';

/**
 * `GET /api/v1/users/me/subscriptions`: returns the user's subscriptions, sorted by channel name. Excludes archived
 * channels. Streams the list in pages; each page is current when it is read.
 */
export const listSubscriptions = operation({
  method: 'GET',
  path: '/api/v1/users/me/subscriptions',
  summary: "Lists the requester's subscriptions.",
  actor: user,
  parameters: z.object({ include_subscribers: booleanParameter.default(false) }),
  answer: z.object({ subscriptions: z.array(subscriptionRecord) }),
  codes: [],
  async handle({ clock, database: { db } }: ServerContext, { actor, parameters }) {
    const { subscriptions } = await readOwnSubscriptions(db, actor, {
      includesSubscribers: parameters.include_subscribers,
      includesArchived: false,
      isOnlySubscribed: true,
      now: clock(),
    });
    return new ListAnswer('subscriptions', subscriptions, {});
  },
});
