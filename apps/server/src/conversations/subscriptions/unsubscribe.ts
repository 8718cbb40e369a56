import { type ChannelId, refused } from '@waxwing/protocol';
import { jsonParameter, operation, optionalJsonParameter } from '@waxwing/service/http';
import { z } from 'zod';
import type { ServerContext } from '../../context.js';
import { ascendingIds } from '../../people/permissions/ascending-ids.js';
import { insufficientPermission } from '../../people/permissions/insufficient-permission.js';
import { user } from '../../platform/authentication/authenticate.js';
import { type ChannelAccess, readChannelAccess } from '../channels/channel-access.js';
import { mayRemoveSubscribers, seesChannel } from '../channels/channel-rules.js';
import { lockNamedChannels } from '../channels/find-named-channels.js';
import { eventsOfLeaving } from '../channels/subscription-events.js';
import { removeSubscriptions } from '../channels/subscription-store.js';
import { readLeftChannels } from '../messages/flags/read-left-channels.js';
import { retractFromUsersWhoLeft } from '../messages/push/withdraw-notifications.js';
import { findPrincipals, principalList } from './principals.js';

const channelNames = z
  .array(z.string('must be a list of names').max(1000), 'must be a list')
  .min(1, 'must name a channel')
  .max(100, 'must name at most 100 channels');

/**
 * `DELETE /api/v1/users/me/subscriptions`: unsubscribes the actor or other users from channels. Atomic. Notifies users
 * who can see the change. Marks the unread messages of unsubscribed users as read and retracts their push
 * notifications. Errors: BAD_REQUEST for unknown users, for channels that do not exist or that the actor cannot see,
 * and if the actor may not unsubscribe other users from one of the channels.
 */
export const unsubscribe = operation({
  method: 'DELETE',
  path: '/api/v1/users/me/subscriptions',
  summary: 'Unsubscribes users from channels.',
  actor: user,
  parameters: z.object({
    subscriptions: jsonParameter(channelNames),
    principals: optionalJsonParameter(principalList),
  }),
  answer: z.object({ removed: z.array(z.string()), not_removed: z.array(z.string()) }),
  codes: ['BAD_REQUEST'],
  async handle(context: ServerContext, { actor, parameters }) {
    const { publish, realm } = context;
    const names = parameters.subscriptions.map((name) => name.trim());
    const rows = names.length * (parameters.principals?.length ?? 1);
    return actor.changeMany(rows, async (transaction, locked) => {
      const { db } = transaction;
      const found = await lockNamedChannels(transaction, names);
      const access = await readChannelAccess(db, locked, [...found.values()]);
      const known = requireAll(names, access);
      const { principals } = parameters;
      const userIds =
        principals === undefined
          ? [locked.id]
          : await findPrincipals(db, principals, { actor: locked, realm });
      const isAboutOthers = userIds.some((id) => id !== locked.id);
      if (isAboutOthers && !known.every(mayRemoveSubscribers)) throw insufficientPermission();
      const channels = known.map(({ channel }) => channel);
      const wanted = channels.flatMap(({ id }) => userIds.map((userId) => ({ channelId: id, userId })));
      const removed = await removeSubscriptions(db, wanted);
      await retractFromUsersWhoLeft(transaction, context, {
        userIds: ascendingIds(removed.map(({ userId }) => userId)),
        channelIds: ascendingIds(removed.map(({ channelId }) => channelId)),
      });
      await publish(transaction, eventsOfLeaving(db, channels, removed));
      await readLeftChannels(transaction, context, removed);
      const left = new Set(removed.map(({ channelId }) => channelId));
      return {
        removed: channels.filter(({ id }) => left.has(id)).map(({ name }) => name),
        not_removed: channels.filter(({ id }) => !left.has(id)).map(({ name }) => name),
      };
    });
  },
});

/**
 * Returns the channels with these names. @throws ProtocolError BAD_REQUEST for the first name without a channel that
 * the actor can see.
 */
function requireAll(
  names: readonly string[],
  access: ReadonlyMap<ChannelId, ChannelAccess>,
): readonly ChannelAccess[] {
  const seen = new Map(
    [...access.values()].filter(seesChannel).map((each) => [each.channel.name.toLowerCase(), each]),
  );
  for (const name of names) {
    if (!seen.has(name.toLowerCase())) throw refused(`Channel(s) (${name}) do not exist`);
  }
  return [...seen.values()];
}
