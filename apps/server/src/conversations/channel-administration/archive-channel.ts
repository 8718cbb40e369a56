import { type ChannelId, refused } from '@waxwing/protocol';
import { noAnswer, operation } from '@waxwing/service/http';
import { z } from 'zod';
import type { ServerContext } from '../../context.js';
import { lockGroups } from '../../people/permissions/lock-groups.js';
import { readRealmSettings, storeRealmSetting } from '../../people/realm/realm-setting-store.js';
import { channelSettingNames, noChannel } from '../../people/realm/realm-settings.js';
import { user } from '../../platform/authentication/authenticate.js';
import type { ServerTransaction } from '../../tables.js';
import { readChannelAccess } from '../channels/channel-access.js';
import { channelIdParameter } from '../channels/channel-id-parameter.js';
import { noSuchChannel } from '../channels/channel-refusals.js';
import { lockChannels } from '../channels/channel-store.js';
import { defaultChannelsEvent } from '../channels/default-channels.js';
import { readArchivedChannel } from '../messages/flags/read-archived-channel.js';
import { eventsOfArchiving } from './channel-events.js';
import { requireMayAdminister } from './plan-channel-update.js';

/**
 * `DELETE /api/v1/streams/{stream_id}`: archives a channel. The channel keeps its messages but accepts no new ones. It
 * is no longer a default channel, and organization settings that refer to it are reset. A job then marks its unread
 * messages as read. Notifies all users who can see the channel. Errors: BAD_REQUEST for channels that do not exist or
 * are already archived, and for actors who may not administer the channel.
 */
export const archiveChannel = operation({
  method: 'DELETE',
  path: '/api/v1/streams/{stream_id}',
  summary: 'Archives a channel.',
  actor: user,
  parameters: z.object({ stream_id: channelIdParameter }),
  answer: noAnswer,
  codes: ['BAD_REQUEST'],
  async handle(context: ServerContext, { actor, parameters }) {
    const { publish } = context;
    await actor.change(async (transaction, locked) => {
      const { db } = transaction;
      const channels = await lockChannels(transaction, [parameters.stream_id]);
      const access = (await readChannelAccess(db, locked, channels)).get(parameters.stream_id);
      if (access === undefined) throw noSuchChannel();
      requireMayAdminister({ access });
      const { channel } = access;
      if (channel.isArchived) throw refused('Channel is already archived');
      await db
        .updateTable('channels')
        .set({ is_archived: 1, is_default: 0 })
        .where('id', '=', channel.id)
        .execute();
      await publish(transaction, eventsOfArchiving(db, channel));
      if (channel.isDefault) await publish(transaction, await defaultChannelsEvent(db));
      await forgetChannel(transaction, publish, channel.id);
      await readArchivedChannel(transaction, context, channel.id);
    }, lockGroups);
    return {};
  },
});

/** Resets the organization settings that refer to the channel. */
async function forgetChannel(
  transaction: ServerTransaction,
  publish: ServerContext['publish'],
  channelId: ChannelId,
): Promise<void> {
  const { db } = transaction;
  const settings = await readRealmSettings(db);
  const naming = channelSettingNames.filter((name) => settings[name] === channelId);
  if (naming.length === 0) return;
  for (const name of naming) await storeRealmSetting(db, name, noChannel);
  const data = Object.fromEntries(naming.map((name) => [name, noChannel]));
  const event = { type: 'realm', op: 'update_dict', property: 'default', data };
  await publish(transaction, [{ event, audience: 'everyone' }]);
}
