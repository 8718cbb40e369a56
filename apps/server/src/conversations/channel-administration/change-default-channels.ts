import { type ChannelId, refused } from '@waxwing/protocol';
import { noAnswer, operation } from '@waxwing/service/http';
import { z } from 'zod';
import type { ServerContext } from '../../context.js';
import { administrator, type Requester } from '../../platform/authentication/authenticate.js';
import { channelIdParameter } from '../channels/channel-id-parameter.js';
import { noSuchChannel } from '../channels/channel-refusals.js';
import { lockChannels } from '../channels/channel-store.js';
import { defaultChannelsEvent } from '../channels/default-channels.js';

const parameters = z.object({ stream_id: channelIdParameter });

/**
 * `POST /api/v1/default_streams`: adds a channel to the default channels. New users are subscribed to these. Notifies
 * all users except guests. Errors: UNAUTHORIZED_PRINCIPAL for actors who are not administrators; BAD_REQUEST for
 * channels that do not exist, are archived or are private.
 */
export const addDefaultChannel = operation({
  method: 'POST',
  path: '/api/v1/default_streams',
  summary: 'Adds a channel to the default channels of new users.',
  actor: administrator,
  parameters,
  answer: noAnswer,
  codes: ['BAD_REQUEST'],
  handle: (context: ServerContext, { actor, parameters }) =>
    setDefault(context, actor, { channelId: parameters.stream_id, isDefault: true }),
});

/**
 * `DELETE /api/v1/default_streams`: removes a channel from the default channels. Notifies all users except guests.
 * Errors: UNAUTHORIZED_PRINCIPAL for actors who are not administrators; BAD_REQUEST for channels that do not exist.
 */
export const removeDefaultChannel = operation({
  method: 'DELETE',
  path: '/api/v1/default_streams',
  summary: 'Removes a channel from the default channels of new users.',
  actor: administrator,
  parameters,
  answer: noAnswer,
  codes: ['BAD_REQUEST'],
  handle: (context: ServerContext, { actor, parameters }) =>
    setDefault(context, actor, { channelId: parameters.stream_id, isDefault: false }),
});

async function setDefault(
  { publish }: ServerContext,
  actor: Requester,
  { channelId, isDefault }: { readonly channelId: ChannelId; readonly isDefault: boolean },
): Promise<Record<string, never>> {
  await actor.change(async (transaction) => {
    const { db } = transaction;
    const [channel] = await lockChannels(transaction, [channelId]);
    if (channel === undefined || (isDefault && channel.isArchived)) throw noSuchChannel();
    if (isDefault && channel.isPrivate) throw refused('Private channels cannot be made default.');
    if (channel.isDefault === isDefault) return;
    await db
      .updateTable('channels')
      .set({ is_default: Number(isDefault) })
      .where('id', '=', channelId)
      .execute();
    await publish(transaction, await defaultChannelsEvent(db));
  });
  return {};
}
