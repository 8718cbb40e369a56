import { refused } from '@waxwing/protocol';
import {
  booleanParameter,
  integerParameter,
  jsonParameter,
  operation,
  optionalJsonParameter,
} from '@waxwing/service/http';
import { z } from 'zod';
import type { ServerContext } from '../../context.js';
import type { GroupSettingValue } from '../../people/permissions/group-setting-value.js';
import { readReferences } from '../../people/permissions/known-references.js';
import { lockGroups } from '../../people/permissions/lock-groups.js';
import {
  permissionsAmong,
  permissionValueParameters,
} from '../../people/permissions/permission-parameters.js';
import type { PermissionHolder } from '../../people/permissions/permission-store.js';
import { roleGroupId, roleGroupIds } from '../../people/permissions/permission-store.js';
import { namedIn } from '../../people/permissions/plan-permission.js';
import { user } from '../../platform/authentication/authenticate.js';
import type { KnownUser } from '../../platform/authentication/credential-store.js';
import { requireNoGuest } from '../../platform/authentication/require-member.js';
import type { ServerTransaction } from '../../tables.js';
import { announceChannels, announcementsChannelId } from '../channel-administration/announcements.js';
import { creationNotice } from '../channel-administration/channel-notices.js';
import { postNotices } from '../channel-administration/post-notices.js';
import { readChannelAccess } from '../channels/channel-access.js';
import type { Channel } from '../channels/channel-store.js';
import { channelDescriptionInJson } from '../channels/channel-text.js';
import { defaultChannelsEvent } from '../channels/default-channels.js';
import { lockNamedChannels } from '../channels/find-named-channels.js';
import { isKnownFolder } from '../channels/folders/folder-store.js';
import { insertChannels } from '../channels/insert-channels.js';
import { readRealmRights } from '../channels/realm-rights.js';
import { channelRetention } from '../channels/retention-parameter.js';
import { eventsOfJoining } from '../channels/subscription-events.js';
import { insertSubscriptions } from '../channels/subscription-store.js';
import { topicsPolicyParameter } from '../channels/topics-policy-parameter.js';
import { renderDescriptions } from '../messages/render-content.js';
import { namesByUser } from './names-by-user.js';
import {
  planSubscribing,
  type SubscribeRequest,
  type SubscribingFacts,
  type SubscribingPlan,
} from './plan-subscribing.js';
import { findPrincipals, principalList } from './principals.js';
import { colorShape } from './subscription-color.js';

const wantedChannels = z
  .array(
    z.object(
      {
        name: z.string('must be a string').max(1000),
        description: channelDescriptionInJson.nullish(),
        color: colorShape.nullish(),
      },
      'must have a name',
    ),
    'must be a list',
  )
  .min(1, 'must name a channel')
  .max(100, 'must name at most 100 channels');

const names = z.record(z.string(), z.array(z.string()));

const parameters = z.object({
  subscriptions: jsonParameter(wantedChannels),
  principals: optionalJsonParameter(principalList),
  invite_only: booleanParameter.optional(),
  is_web_public: booleanParameter.optional(),
  history_public_to_subscribers: booleanParameter.optional(),
  is_default_stream: booleanParameter.default(false),
  message_retention_days: channelRetention.optional(),
  folder_id: integerParameter.optional(),
  topics_policy: topicsPolicyParameter.default('inherit'),
  default_push_notifications: booleanParameter.default(false),
  authorization_errors_fatal: booleanParameter.default(true),
  announce: booleanParameter.default(false),
  ...permissionValueParameters('channel'),
});

/**
 * `POST /api/v1/users/me/subscriptions`: subscribes the actor or other users to channels, and creates channels that do
 * not exist. Atomic. With `authorization_errors_fatal` false, skips channels that cannot be joined. Channel settings in
 * the request apply only to the channels that the request creates. Notifies users who can see the change. With
 * `announce`, announces created public channels in the organization's announcements channel, if it has one. Errors:
 *
 * - BAD_REQUEST for guests, unknown users, channels that cannot be joined and inconsistent settings, and if the actor
 *   may not create the channels or may not subscribe other users
 * - UNAUTHORIZED_PRINCIPAL for retention days from an actor who is not an owner, and for `default_push_notifications`
 *   from an actor who is not an administrator
 * - REQUEST_VARIABLE_INVALID for invalid retention days
 * - CHANNEL_ALREADY_EXISTS if another request creates a channel with the same name concurrently
 */
export const subscribe = operation({
  method: 'POST',
  path: '/api/v1/users/me/subscriptions',
  summary: 'Subscribes users to channels and creates missing channels.',
  actor: user,
  parameters,
  answer: z.object({
    subscribed: names,
    already_subscribed: names,
    unauthorized: z.array(z.string()).optional(),
  }),
  codes: ['BAD_REQUEST', 'UNAUTHORIZED_PRINCIPAL', 'REQUEST_VARIABLE_INVALID', 'CHANNEL_ALREADY_EXISTS'],
  async handle(context: ServerContext, { actor, parameters }) {
    const requested = readRequest(parameters);
    const work = async (transaction: ServerTransaction, locked: KnownUser) => {
      requireNoGuest(locked);
      const facts = await readFacts(transaction, context, {
        actor: locked,
        requested,
        principals: parameters.principals,
        announces: parameters.announce,
      });
      const plan = planSubscribing(facts, requested);
      const done = await applySubscribing(transaction, context, { facts, plan, requested });
      return { ...done, ...(requested.isAllOrNothing ? {} : { unauthorized: [...plan.unauthorized] }) };
    };
    const subscriptions = requested.channels.length * (parameters.principals?.length ?? 1);
    const values = valuesOf(requested);
    const rows = subscriptions + namedIn(values).userIds.length;
    return actor.changeMany(rows, work, values.length > 0 ? lockGroups : undefined);
  },
});

function readRequest(parameters: z.output<typeof subscribe.parameters>): SubscribeRequest {
  return {
    channels: parameters.subscriptions.map(({ name, description, color }) => ({
      name,
      description: description ?? '',
      color: color ?? undefined,
    })),
    isAllOrNothing: parameters.authorization_errors_fatal,
    privacy: {
      isPrivate: parameters.invite_only,
      isWebPublic: parameters.is_web_public,
      isHistoryPublic: parameters.history_public_to_subscribers,
    },
    isDefault: parameters.is_default_stream,
    retentionDays: parameters.message_retention_days ?? null,
    folderId: parameters.folder_id,
    topicsPolicy: parameters.topics_policy,
    notifiesPhones: parameters.default_push_notifications,
    permissions: permissionsAmong('channel', parameters),
  };
}

function valuesOf({ permissions }: SubscribeRequest): GroupSettingValue[] {
  return Object.values(permissions).flatMap((value) => value ?? []);
}

const maximumSubscriptions = 10_000;

interface Asked {
  readonly actor: PermissionHolder;
  readonly requested: SubscribeRequest;
  readonly principals: z.output<typeof principalList> | undefined;
  readonly announces: boolean;
}

interface Facts extends SubscribingFacts {
  /** The channel to post the announcement in. `undefined` if nothing is announced. */
  readonly announcements: Channel | undefined;
}

async function readFacts(
  transaction: ServerTransaction,
  { offersWebPublicChannels, realm }: ServerContext,
  { actor, requested, principals, announces }: Asked,
): Promise<Facts> {
  const { db } = transaction;
  const known = await readReferences(transaction, namedIn(valuesOf(requested)));
  // Private channels are not announced.
  const placeId =
    announces && requested.privacy.isPrivate !== true
      ? await announcementsChannelId(db, 'new_stream_announcements_stream_id')
      : undefined;
  const names = requested.channels.map(({ name }) => name.trim());
  const found = await lockNamedChannels(transaction, names, placeId === undefined ? [] : [placeId]);
  const access = await readChannelAccess(db, actor, [...found.values()]);
  const roleGroups = await roleGroupIds(db);
  const userIds =
    principals === undefined ? [actor.id] : await findPrincipals(db, principals, { actor, realm });
  if (userIds.length * requested.channels.length > maximumSubscriptions)
    throw refused(`At most ${maximumSubscriptions} subscriptions can be made at once`);
  return {
    rights: await readRealmRights(db, actor, { serverOffersWebPublic: offersWebPublicChannels }),
    nobodyId: roleGroupId(roleGroups, 'role:nobody'),
    everyoneId: roleGroupId(roleGroups, 'role:everyone'),
    known,
    isFolderKnown: requested.folderId !== undefined && (await isKnownFolder(transaction, requested.folderId)),
    existing: new Map([...access.values()].map((each) => [each.channel.name.toLowerCase(), each])),
    userIds,
    announcements: [...found.values()].find(({ id, isArchived }) => id === placeId && !isArchived),
  };
}

interface Planned {
  readonly facts: Facts;
  readonly plan: SubscribingPlan;
  readonly requested: SubscribeRequest;
}

async function applySubscribing(
  transaction: ServerTransaction,
  context: ServerContext,
  { facts, plan, requested }: Planned,
) {
  const { clock, publish } = context;
  const { db } = transaction;
  const now = clock();
  const texts = plan.create.map(({ description }) => description);
  const rendered = await renderDescriptions(db, context, facts.rights.actor, texts);
  const made = await insertChannels(transaction, plan.create, { now, rendered });
  const channels = [...plan.join, ...made];
  const colors = new Map(requested.channels.map(({ name, color }) => [name.trim().toLowerCase(), color]));
  const wanted = channels.flatMap(({ id, name }) =>
    facts.userIds.map((userId) => ({ channelId: id, userId, color: colors.get(name.toLowerCase()) })),
  );
  const joined = await insertSubscriptions(db, wanted);
  const created = new Set(made.map(({ id }) => id));
  await publish(transaction, eventsOfJoining(db, { channels, joined, created, now }));
  if (made.some(({ isDefault }) => isDefault)) await publish(transaction, await defaultChannelsEvent(db));
  for (const channel of made) {
    await postNotices(transaction, context, { actor: facts.rights.actor, channel }, (names) => [
      creationNotice(channel, names),
    ]);
  }
  const { announcements: channel } = facts;
  if (channel !== undefined)
    await announceChannels(transaction, context, { channel, actor: facts.rights.actor }, made);
  const isNew = new Set(joined.map(({ channelId, userId }) => `${channelId} ${userId}`));
  const namesOf = (areNew: boolean) =>
    namesByUser(
      wanted.filter(({ channelId, userId }) => isNew.has(`${channelId} ${userId}`) === areNew),
      channels,
    );
  return { subscribed: namesOf(true), already_subscribed: namesOf(false) };
}
