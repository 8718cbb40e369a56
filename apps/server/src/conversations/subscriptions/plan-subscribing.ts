import { refused, type UserId } from '@waxwing/protocol';
import { insufficientPermission } from '../../people/permissions/insufficient-permission.js';
import type { ChannelAccess } from '../channels/channel-access.js';
import { mayAddSubscribers, readsChannel } from '../channels/channel-rules.js';
import type { Channel } from '../channels/channel-store.js';
import {
  type NewChannelFacts,
  type NewChannelsRequest,
  type PlannedChannel,
  planChannelCreation,
} from '../channels/plan-channel-creation.js';

/** A channel to subscribe to. The server creates it if no channel has this name. */
interface WantedChannel {
  readonly name: string;
  readonly description: string;
  readonly color: string | undefined;
}

export interface SubscribingFacts extends NewChannelFacts {
  /** Keyed by the name in lower case. */
  readonly existing: ReadonlyMap<string, ChannelAccess>;
  /** The users to subscribe. All are active. */
  readonly userIds: readonly UserId[];
}

export interface SubscribeRequest extends NewChannelsRequest {
  readonly channels: readonly WantedChannel[];
  /** Whether the whole request fails if a single channel cannot be joined. */
  readonly isAllOrNothing: boolean;
}

export interface SubscribingPlan {
  readonly create: readonly PlannedChannel[];
  readonly join: readonly Channel[];
  /** The names of channels that cannot be joined and were skipped. */
  readonly unauthorized: readonly string[];
}

/**
 * Plans which channels to create and which to join.
 * @throws ProtocolError if the request violates a rule.
 */
export function planSubscribing(facts: SubscribingFacts, requested: SubscribeRequest): SubscribingPlan {
  const named = new Map(requested.channels.map((channel) => [channel.name.trim().toLowerCase(), channel]));
  const missing = [...named].filter(([name]) => !facts.existing.has(name)).map(([, channel]) => channel);
  const there = [...named.keys()].flatMap((name) => facts.existing.get(name) ?? []);
  const closed = there.filter((access) => access.channel.isArchived || !readsChannel(access));
  if (closed.length > 0 && requested.isAllOrNothing) {
    throw refused(`Unable to access channel (${closed.map(({ channel }) => channel.name).join(', ')}).`);
  }
  const open = there.filter((access) => !closed.includes(access));
  const addsOthers = facts.userIds.some((id) => id !== facts.rights.actor.id);
  const refusing = addsOthers
    ? open.find((access) => !mayAddSubscribers(access, facts.rights.held))
    : undefined;
  if (refusing !== undefined) throw insufficientPermission();
  return {
    create: planChannelCreation(facts, requested, missing),
    join: open.map(({ channel }) => channel),
    unauthorized: closed.map(({ channel }) => channel.name),
  };
}
