import type { UserId } from '@waxwing/protocol';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ChannelAccess } from '#server/conversations/channels/channel-access.js';
import {
  administersChannel,
  mayAddSubscribers,
  mayRemoveSubscribers,
  maySendTo,
  readsChannel,
  seesChannel,
} from '#server/conversations/channels/channel-rules.js';
import type { Channel } from '#server/conversations/channels/channel-store.js';
import type { Role } from '#server/platform/authentication/roles.js';
import { isInAny, type NestedGroups } from '../permissions/nested-groups.js';

const me = 1 as UserId;
const names = [
  'can_add_subscribers_group',
  'can_administer_channel_group',
  'can_remove_subscribers_group',
  'can_send_message_group',
  'can_subscribe_group',
] as const;
/** Permissions that guests can hold. */
const forGuests: readonly string[] = ['can_remove_subscribers_group', 'can_send_message_group'];
const groupIds = [1, 2, 3, 4, 5];

const world = fc.record({
  role: fc.constantFrom<Role[]>(100, 200, 300, 400, 600),
  kind: fc.constantFrom('public', 'web-public', 'shared', 'protected'),
  isArchived: fc.boolean(),
  isSubscribed: fc.boolean(),
  addsEverywhere: fc.boolean(),
  groups: fc.array(fc.record({ isIn: fc.boolean(), subgroups: fc.subarray(groupIds, { maxLength: 2 }) }), {
    minLength: 5,
    maxLength: 5,
  }),
  permissions: fc.record(
    Object.fromEntries(names.map((name) => [name, fc.constantFrom(...groupIds)])) as Record<
      (typeof names)[number],
      fc.Arbitrary<number>
    >,
  ),
});

type World = typeof world extends fc.Arbitrary<infer Value> ? Value : never;

/** Whether the user is in a group. Walks all paths with at most as many steps as there are groups. */
function isMember({ groups }: Pick<World, 'groups'>, id: number, steps = groupIds.length): boolean {
  const group = groups[id - 1];
  if (group === undefined || steps < 0) return false;
  return group.isIn || group.subgroups.some((inner) => isMember({ groups }, inner, steps - 1));
}

/** The rules as a table, written independently of the implementation. */
function expected(all: World) {
  const { role, kind, isArchived, isSubscribed, permissions, addsEverywhere } = all;
  const isGuest = role === 600;
  const isAdmin = role === 100 || role === 200;
  const has = (name: (typeof names)[number]) =>
    (!isGuest || forGuests.includes(name)) && isMember(all, permissions[name]);
  const isOpen = kind === 'web-public' || (kind === 'public' && !isGuest);
  const isLetIn = has('can_subscribe_group') || has('can_add_subscribers_group');
  const reads = isOpen || isSubscribed || ((kind === 'shared' || kind === 'protected') && isLetIn);
  const administers = isAdmin || has('can_administer_channel_group');
  const sees = reads || administers;
  const canWrite = isOpen || isSubscribed || (kind === 'shared' && isLetIn);
  return {
    reads,
    administers,
    sees,
    sends: !isArchived && has('can_send_message_group') && canWrite,
    adds: !isGuest && reads && (addsEverywhere || administers || has('can_add_subscribers_group')),
    removes: sees && (administers || has('can_remove_subscribers_group')),
  };
}

function accessOf(all: World): ChannelAccess {
  const { role, kind, isArchived, isSubscribed, permissions } = all;
  const groups: NestedGroups = new Map(
    all.groups.map(({ isIn, subgroups }, index) => [
      index + 1,
      { memberIds: isIn ? [me] : [], subgroupIds: subgroups },
    ]),
  );
  const channel = {
    isPrivate: kind === 'shared' || kind === 'protected',
    isWebPublic: kind === 'web-public',
    isHistoryPublic: kind !== 'protected',
    isArchived,
  } as Channel;
  const held = names.filter(
    (name) => (role !== 600 || forGuests.includes(name)) && isInAny(groups, me, [permissions[name]]),
  );
  return { actor: { id: me, role }, channel, isSubscribed, held: new Set(held) };
}

it('a user’s rights in a channel match a table of all rules', () => {
  fc.assert(
    fc.property(world, (all) => {
      const access = accessOf(all);
      const inRealm = new Set(all.addsEverywhere ? (['can_add_subscribers_group'] as const) : []);
      expect({
        reads: readsChannel(access),
        administers: administersChannel(access),
        sees: seesChannel(access),
        sends: maySendTo(access),
        adds: mayAddSubscribers(access, inRealm),
        removes: mayRemoveSubscribers(access),
      }).toEqual(expected(all));
    }),
    { numRuns: 10_000 },
  );
});
