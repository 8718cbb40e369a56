import type { ChannelId, UserId } from '@waxwing/protocol';
import { booleanParameter, ListAnswer, operation } from '@waxwing/service/http';
import type { Kysely } from 'kysely';
import { z } from 'zod';
import type { ServerContext } from '../../context.js';
import { user } from '../../platform/authentication/authenticate.js';
import type { ServerTables } from '../../tables.js';
import { channelRecord } from './channel-record.js';
import { readsChannel } from './channel-rules.js';
import type { ChannelVisibility } from './channel-visibility.js';
import { compareNames } from './compare-names.js';
import { readKnownChannels } from './known-channels.js';
import { channelRecordPages } from './read-channel-records.js';
import { subscriptionsOf } from './subscription-store.js';

const parameters = z.object({
  include_public: booleanParameter.default(true),
  include_web_public: booleanParameter.default(false),
  include_subscribed: booleanParameter.default(true),
  include_can_access_content: booleanParameter.default(false),
  include_all: booleanParameter.default(false),
  include_default: booleanParameter.default(false),
  include_owner_subscribed: booleanParameter.default(false),
  exclude_archived: booleanParameter.default(true),
});

/**
 * `GET /api/v1/streams`: returns channels that the user can see, sorted by name. Parameters select the kinds of
 * channels. The default is public channels and the user's subscriptions. A bot may also request its owner's
 * subscriptions. With `include_default`, each channel has an `is_default` field: whether new users are subscribed to
 * it. Streams the list in pages; each page is current when it is read.
 */
export const listChannels = operation({
  method: 'GET',
  path: '/api/v1/streams',
  summary: 'Lists channels that the requester can see.',
  actor: user,
  parameters,
  answer: z.object({ streams: z.array(channelRecord.extend({ is_default: z.boolean().optional() })) }),
  codes: [],
  async handle({ clock, database: { db } }: ServerContext, { actor, parameters }) {
    const ofOwner = parameters.include_owner_subscribed
      ? await channelsOfOwner(db, actor.id)
      : new Set<ChannelId>();
    const few = asksForAll(parameters) ? undefined : [...(await subscribedIds(db, actor.id)), ...ofOwner];
    const wanted = (await readKnownChannels(db, actor, few))
      .filter((visibility) => isWanted(visibility, { ...parameters, ofOwner }))
      .map(({ channel }) => channel)
      .sort(compareNames);
    const defaults = new Set(wanted.filter(({ isDefault }) => isDefault).map(({ id }) => id));
    const pages = async function* () {
      for await (const records of channelRecordPages(db, wanted, clock())) {
        yield parameters.include_default
          ? records.map((record) => ({ ...record, is_default: defaults.has(record.stream_id) }))
          : records;
      }
    };
    return new ListAnswer('streams', pages(), {});
  },
});

/** Returns whether the result may include channels that neither the user nor the bot's owner is subscribed to. */
function asksForAll(asked: z.output<typeof parameters>): boolean {
  return (
    asked.include_all || asked.include_public || asked.include_web_public || asked.include_can_access_content
  );
}

async function subscribedIds(db: Kysely<ServerTables>, userId: UserId): Promise<ChannelId[]> {
  const rows = await subscriptionsOf(db, userId);
  return rows.filter(({ is_active }) => is_active === 1).map(({ channel_id }) => channel_id);
}

/** Returns the channels that the bot's owner is subscribed to. Empty for users without an owner. */
async function channelsOfOwner(db: Kysely<ServerTables>, botId: UserId): Promise<ReadonlySet<ChannelId>> {
  const rows = await db
    .selectFrom('users')
    .innerJoin('subscriptions', 'subscriptions.user_id', 'users.bot_owner_id')
    .select('channel_id')
    .where('users.id', '=', botId)
    .where('subscriptions.is_active', '=', 1)
    .execute();
  return new Set(rows.map(({ channel_id }) => channel_id));
}

function isWanted(
  visibility: ChannelVisibility,
  asked: z.output<typeof parameters> & { readonly ofOwner: ReadonlySet<ChannelId> },
): boolean {
  const { channel, isSubscribed } = visibility;
  if (channel.isArchived && asked.exclude_archived) return false;
  return (
    asked.include_all ||
    (asked.include_public && !channel.isPrivate) ||
    (asked.include_web_public && channel.isWebPublic) ||
    (asked.include_subscribed && isSubscribed) ||
    asked.ofOwner.has(channel.id) ||
    (asked.include_can_access_content && readsChannel(visibility))
  );
}
