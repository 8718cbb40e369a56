import { booleanParameter, integerParameter, noAnswer, operation } from '@waxwing/service/http';
import { z } from 'zod';
import type { ServerContext } from '../../context.js';
import { groupsIn } from '../../people/permissions/group-setting-value.js';
import { lockGroups } from '../../people/permissions/lock-groups.js';
import {
  permissionRequestParameters,
  permissionsAmong,
} from '../../people/permissions/permission-parameters.js';
import { roleGroupIds } from '../../people/permissions/permission-store.js';
import { namedIn } from '../../people/permissions/plan-permission.js';
import { user } from '../../platform/authentication/authenticate.js';
import type { KnownUser } from '../../platform/authentication/credential-store.js';
import type { ServerTransaction } from '../../tables.js';
import { channelIdParameter } from '../channels/channel-id-parameter.js';
import { noSuchChannel } from '../channels/channel-refusals.js';
import { findChannels } from '../channels/channel-store.js';
import { channelDescription } from '../channels/channel-text.js';
import { defaultChannelsEvent } from '../channels/default-channels.js';
import { channelRetention } from '../channels/retention-parameter.js';
import { topicsPolicyParameter } from '../channels/topics-policy-parameter.js';
import { renderDescriptions } from '../messages/render-content.js';
import { applyChannelChange } from './apply-channel-change.js';
import { eventsOfChannelChange } from './channel-events.js';
import { noticesOfChange } from './channel-notices.js';
import type { ChannelChange, ChannelFacts, ChannelUpdateRequest } from './channel-update.js';
import { planChannelUpdate } from './plan-channel-update.js';
import { postNotices } from './post-notices.js';
import { readChannelFacts } from './read-channel-facts.js';

const parameters = z.object({
  stream_id: channelIdParameter,
  description: channelDescription.optional(),
  new_name: z.string().optional(),
  is_private: booleanParameter.optional(),
  is_web_public: booleanParameter.optional(),
  history_public_to_subscribers: booleanParameter.optional(),
  is_default_stream: booleanParameter.optional(),
  message_retention_days: channelRetention.optional(),
  is_archived: booleanParameter.optional(),
  folder_id: z
    .union([integerParameter, z.literal('null').transform(() => null)], 'must be an integer or null')
    .meta({ openApi: { type: ['integer', 'null'] } })
    .optional(),
  topics_policy: topicsPolicyParameter.optional(),
  default_push_notifications: booleanParameter.optional(),
  ...permissionRequestParameters('channel'),
});

/**
 * `PATCH /api/v1/streams/{stream_id}` (docs/chat-api.md#3-update-a-channel): changes a channel. Atomic. Notifies the
 * users who can see the channel, and posts a notice in it if the organization has enabled notices. Errors:
 *
 * - BAD_REQUEST if the channel does not exist, the actor may not administer it or change one of the properties, the
 *   settings are inconsistent, the name is invalid, or the folder is unknown
 * - UNAUTHORIZED_PRINCIPAL for retention days from an actor who is not an owner, and for the push default for new
 *   subscribers from an actor who is not an administrator
 * - REQUEST_VARIABLE_INVALID for invalid retention days
 * - CHANNEL_ALREADY_EXISTS if another channel has the name
 * - EXPECTATION_MISMATCH if `old` is not the current value of a permission
 */
export const updateChannel = operation({
  method: 'PATCH',
  path: '/api/v1/streams/{stream_id}',
  summary: 'Updates a channel.',
  actor: user,
  parameters,
  answer: noAnswer,
  codes: [
    'BAD_REQUEST',
    'UNAUTHORIZED_PRINCIPAL',
    'REQUEST_VARIABLE_INVALID',
    'CHANNEL_ALREADY_EXISTS',
    'EXPECTATION_MISMATCH',
  ],
  async handle(context: ServerContext, { actor, parameters }) {
    const requested = readRequest(parameters);
    // The lock on groups prevents races with requests that change groups or use the same channel name.
    const work = async (transaction: ServerTransaction, locked: KnownUser) => {
      const serverOffersWebPublic = context.offersWebPublicChannels;
      const asked = { actor: locked, channelId: parameters.stream_id, requested, serverOffersWebPublic };
      const facts = await readChannelFacts(transaction, asked);
      await changeChannel(transaction, context, facts, planChannelUpdate(facts, requested));
    };
    const values = Object.values(requested.permissions).flatMap((each) => each?.new ?? []);
    await actor.changeMany(namedIn(values).userIds.length, work, lockGroups);
    return {};
  },
});

function readRequest(parameters: z.output<typeof updateChannel.parameters>): ChannelUpdateRequest {
  return {
    privacy: {
      isPrivate: parameters.is_private,
      isWebPublic: parameters.is_web_public,
      isHistoryPublic: parameters.history_public_to_subscribers,
    },
    topicsPolicy: parameters.topics_policy,
    notifiesPhones: parameters.default_push_notifications,
    isDefault: parameters.is_default_stream,
    retentionDays: parameters.message_retention_days,
    isArchived: parameters.is_archived,
    description: parameters.description,
    name: parameters.new_name,
    folderId: parameters.folder_id,
    permissions: permissionsAmong('channel', parameters),
  };
}

async function changeChannel(
  transaction: ServerTransaction,
  context: ServerContext,
  { access: { actor, channel: before }, permissions: permissionsBefore }: ChannelFacts,
  change: ChannelChange,
): Promise<void> {
  const { db } = transaction;
  const { description } = change;
  const [rendered] =
    description === undefined ? [] : await renderDescriptions(db, context, actor, [description]);
  await applyChannelChange(transaction, before.id, change, rendered);
  const [after] = await findChannels(db, [before.id]);
  if (after === undefined) throw noSuchChannel();
  const roleGroups = await roleGroupIds(db);
  const changed = { change, before, after, permissionsBefore, roleGroups, now: context.clock() };
  await context.publish(transaction, eventsOfChannelChange(db, changed));
  if (change.isDefault !== undefined && change.isDefault !== before.isDefault) {
    await context.publish(transaction, await defaultChannelsEvent(db));
  }
  const groupIds = change.permissions.flatMap(({ before, value }) => [
    ...groupsIn(before),
    ...groupsIn(value),
  ]);
  await postNotices(transaction, context, { actor, channel: after, groupIds }, (names) =>
    noticesOfChange({ change, before, after }, names),
  );
}
