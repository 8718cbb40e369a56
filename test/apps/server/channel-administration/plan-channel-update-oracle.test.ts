import type { UserId } from '@waxwing/protocol';
import { expect, it } from 'vitest';
import type {
  ChannelFacts,
  ChannelUpdateRequest,
} from '#server/conversations/channel-administration/channel-update.js';
import { planChannelUpdate } from '#server/conversations/channel-administration/plan-channel-update.js';
import type { Channel } from '#server/conversations/channels/channel-store.js';
import fc from '../../../support/fast-check.js';
import { groupId } from '../../../support/ids.js';
import { isInAny, type NestedGroups } from '../permissions/nested-groups.js';
import {
  deactivated,
  everyone,
  expectedChange,
  firstRefusal,
  groupsOf,
  internet,
  nobody,
  type World,
  worlds,
} from './channel-update-oracle.js';

const me = 7 as UserId;
/** Organization permissions that guests can hold too. */
const realmForGuests = ['can_set_topics_policy_group'];

/** The permissions that the user holds. Guests can hold only some permissions. */
function heldAmong(world: World, values: Record<string, number>, forGuests: readonly string[]) {
  const groups: NestedGroups = new Map(
    groupsOf(world, me).map(([id, { isMine, inner }]) => [id, { memberIds: isMine, subgroupIds: inner }]),
  );
  const names = Object.keys(values).filter(
    (name) =>
      (world.role !== 600 || forGuests.includes(name)) && isInAny(groups, me, [values[name] as number]),
  );
  return new Set(names) as ReadonlySet<string> as ReadonlySet<never>;
}

function factsOf(world: World): ChannelFacts {
  const { role, kind, channelGroups, realmGroups } = world;
  const actor = { id: me, role };
  const group = (name: string, isSystem: boolean, isActive = true) => ({ name, isSystem, isActive });
  const channel = {
    name: 'general',
    isPrivate: kind === 'shared' || kind === 'protected',
    isWebPublic: kind === 'web-public',
    isHistoryPublic: kind !== 'protected',
    isArchived: world.isArchived,
    isDefault: world.isDefault,
    topicsPolicy: world.topicsPolicy,
    notifiesPhones: false,
  } as Channel;
  return {
    access: {
      actor,
      channel,
      isSubscribed: world.isSubscribed,
      held: heldAmong(world, channelGroups, ['can_delete_any_message_group', 'can_create_topic_group']),
    },
    rights: {
      actor,
      held: heldAmong(world, realmGroups, realmForGuests),
      offersWebPublic: world.offersWebPublic,
    },
    permissions: channelGroups as unknown as ChannelFacts['permissions'],
    nobodyId: groupId(nobody),
    everyoneId: groupId(everyone),
    known: {
      users: new Map(),
      groups: new Map([
        [groupId(nobody), group('role:nobody', true)],
        [groupId(everyone), group('role:everyone', true)],
        [groupId(internet), group('role:internet', true)],
        [groupId(deactivated), group('gone', false, false)],
        ...groupsOf(world, me).map(([id]) => [groupId(id), group(`group ${id}`, false)] as const),
      ]),
    },
    isNameTaken: world.isNameTaken,
    isFolderKnown: world.isFolderKnown,
    isForModerationRequests: world.isModerationChannel,
    hasSubscribers: world.hasSubscribers,
    hasNamedTopics: world.hasNamedTopics,
  };
}

function wishOf({ wish }: World): ChannelUpdateRequest {
  const { can_create_topic_group, can_delete_any_message_group, can_subscribe_group, ...rest } = wish;
  const { isPrivate, isWebPublic, isHistoryPublic, ...others } = rest;
  return {
    ...(others as Omit<ChannelUpdateRequest, 'privacy' | 'permissions'>),
    privacy: { isPrivate, isWebPublic, isHistoryPublic },
    permissions: {
      can_create_topic_group: can_create_topic_group as never,
      can_delete_any_message_group: can_delete_any_message_group as never,
      can_subscribe_group: can_subscribe_group as never,
    },
  };
}

it('the plan of a channel update matches an ordered table of the rules', () => {
  const counts = { made: 0, refused: 0 };
  const refusals = new Set<string>();
  fc.assert(
    fc.property(worlds, (world) => {
      const refusal = firstRefusal(world);
      const plan = () => planChannelUpdate(factsOf(world), wishOf(world));
      counts[refusal === undefined ? 'made' : 'refused'] += 1;
      if (refusal === undefined) {
        expect(plan()).toStrictEqual(expectedChange(world));
        return;
      }
      refusals.add(refusal);
      expect(plan).toThrow(expect.objectContaining({ message: refusal }));
    }),
    { numRuns: 12_000 },
  );
  // The test would prove little if nearly all updates failed, or failed for only a few reasons.
  expect(counts.made).toBeGreaterThan(500);
  expect(refusals.size).toBeGreaterThan(25);
});
