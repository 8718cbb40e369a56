import { refused, type UserId } from '@waxwing/protocol';
import type { ChannelAccess } from '../channels/channel-access.js';
import { mayAddSubscribers, readsChannel } from '../channels/channel-rules.js';
import type { Channel } from '../channels/channel-store.js';
import {
  type NewChannelFacts,
  type NewChannelsWish,
  type PlannedChannel,
  planChannelCreation,
} from '../channels/plan-channel-creation.js';
import { insufficientPermission } from '../permissions/insufficient-permission.js';

/** A channel that somebody names to join it; it is made where there is none of that name. */
interface WantedChannel {
  readonly name: string;
  readonly description: string;
  readonly color: string | undefined;
}

export interface SubscribingFacts extends NewChannelFacts {
  /** By the name in lower case. */
  readonly existing: ReadonlyMap<string, ChannelAccess>;
  /** Who is to join: active users. */
  readonly userIds: readonly UserId[];
}

export interface SubscribingWish extends NewChannelsWish {
  readonly channels: readonly WantedChannel[];
  /** Whether one channel that cannot be joined makes all of it fail. */
  readonly isAllOrNothing: boolean;
}

export interface SubscribingPlan {
  readonly create: readonly PlannedChannel[];
  readonly join: readonly Channel[];
  /** The names of channels that were left out. */
  readonly unauthorized: readonly string[];
}

/** What will be made and joined. @throws ProtocolError with the reason for a refusal. */
export function planSubscribing(facts: SubscribingFacts, wish: SubscribingWish): SubscribingPlan {
  const named = new Map(wish.channels.map((channel) => [channel.name.trim().toLowerCase(), channel]));
  const missing = [...named].filter(([name]) => !facts.existing.has(name)).map(([, channel]) => channel);
  const there = [...named.keys()].flatMap((name) => facts.existing.get(name) ?? []);
  const closed = there.filter((access) => access.channel.isArchived || !readsChannel(access));
  if (closed.length > 0 && wish.isAllOrNothing) {
    throw refused(`Unable to access channel (${closed.map(({ channel }) => channel.name).join(', ')}).`);
  }
  const open = there.filter((access) => !closed.includes(access));
  const addsOthers = facts.userIds.some((id) => id !== facts.rights.actor.id);
  const refusing = addsOthers
    ? open.find((access) => !mayAddSubscribers(access, facts.rights.held))
    : undefined;
  if (refusing !== undefined) throw insufficientPermission();
  return {
    create: planChannelCreation(facts, wish, missing),
    join: open.map(({ channel }) => channel),
    unauthorized: closed.map(({ channel }) => channel.name),
  };
}
