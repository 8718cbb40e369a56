import { describe, expect, it } from 'vitest';
import type { ChannelAccess } from '#server/conversations/channels/channel-access.js';
import type { Channel } from '#server/conversations/channels/channel-store.js';
import type { RealmRights } from '#server/conversations/channels/realm-rights.js';
import {
  planSubscribing,
  type SubscribeRequest,
  type SubscribingFacts,
} from '#server/conversations/subscriptions/plan-subscribing.js';
import { type Role, roles } from '#server/platform/authentication/roles.js';
import { groupId, userId } from '../../../support/ids.js';

const [me, other] = [userId(1), userId(2)];
const [nobodyId, everyoneId, cooks] = [groupId(90), groupId(91), groupId(10)];

type RealmRight = Parameters<RealmRights['held']['has']>[0];

const makers: readonly RealmRight[] = ['can_create_public_channel_group', 'can_create_private_channel_group'];

interface World {
  readonly role?: Role;
  readonly held?: readonly RealmRight[];
  readonly offersWebPublic?: boolean;
  readonly existing?: readonly ChannelAccess[];
  readonly userIds?: SubscribingFacts['userIds'];
  readonly isFolderKnown?: boolean;
}

function factsOf(world: World = {}): SubscribingFacts {
  const { role = roles.member, held = makers, existing = [], userIds = [me] } = world;
  const group = (name: string, isSystem: boolean) => ({ name, isSystem, isActive: true });
  return {
    rights: {
      actor: { id: me, role },
      held: new Set(held),
      offersWebPublic: world.offersWebPublic ?? true,
    },
    nobodyId,
    everyoneId,
    known: {
      users: new Map(),
      groups: new Map([
        [everyoneId, group('role:everyone', true)],
        [cooks, group('cooks', false)],
      ]),
    },
    isFolderKnown: world.isFolderKnown ?? false,
    existing: new Map(existing.map((access) => [access.channel.name.toLowerCase(), access])),
    userIds,
  };
}

function channel(name: string, fields: Partial<Channel> = {}, access: Partial<ChannelAccess> = {}) {
  return {
    actor: { id: me, role: roles.member },
    channel: { name, isPrivate: false, isWebPublic: false, isArchived: false, ...fields } as Channel,
    isSubscribed: false,
    held: new Set<never>(),
    ...access,
  };
}

const noWish = { isPrivate: undefined, isWebPublic: undefined, isHistoryPublic: undefined };

function plan(world: World, names: readonly string[], wish: Partial<SubscribeRequest> = {}) {
  const channels = names.map((name) => ({ name, description: `of ${name}`, color: undefined }));
  return planSubscribing(factsOf(world), {
    channels,
    isAllOrNothing: true,
    privacy: noWish,
    isDefault: false,
    retentionDays: null,
    folderId: undefined,
    topicsPolicy: 'inherit',
    notifiesPhones: false,
    permissions: {},
    ...wish,
  });
}

function said(world: World, wish: Partial<SubscribeRequest> = {}, names = ['new']): string {
  try {
    plan(world, names, wish);
    return 'done';
  } catch (error) {
    return (error as Error).message;
  }
}

const insufficient = 'Insufficient permission';

describe('joining channels', () => {
  const open = channel('Open');
  const closed = channel('Closed', { isPrivate: true });
  const archived = channel('Old', { isArchived: true });

  it('joins existing channels once each, regardless of letter case and surrounding spaces', () => {
    const { create, join } = plan({ existing: [open] }, [' oPEN ', 'new', 'open', ' NEW']);
    expect(join).toEqual([open.channel]);
    expect(create).toMatchObject([{ name: 'NEW', description: 'of  NEW' }]);
  });

  it('is refused for all channels if some are unreadable or archived, and the error names these', () => {
    expect(said({ existing: [open, closed, archived] }, {}, ['open', 'closed', 'old'])).toBe(
      'Unable to access channel (Closed, Old).',
    );
    expect(said({ existing: [open] }, {}, ['open'])).toBe('done');
  });

  it('skips unreadable and archived channels on request', () => {
    const existing = [open, closed, archived];
    const outcome = plan({ existing }, ['open', 'closed', 'old'], { isAllOrNothing: false });
    expect(outcome).toEqual({ create: [], join: [open.channel], unauthorized: ['Closed', 'Old'] });
  });

  it('requires the permission to add other users to each joined channel, but not to add oneself', () => {
    const userIds = [me, other];
    const adds = channel('Adds', {}, { held: new Set(['can_add_subscribers_group' as const]) });
    expect(said({ existing: [open] }, {}, ['open'])).toBe('done');
    expect(said({ existing: [open], userIds }, {}, ['open'])).toBe(insufficient);
    expect(said({ existing: [adds], userIds }, {}, ['adds'])).toBe('done');
    expect(said({ existing: [adds, open], userIds }, {}, ['adds', 'open'])).toBe(insufficient);
    const held = ['can_add_subscribers_group'] as const;
    expect(said({ existing: [open], userIds, held }, {}, ['open'])).toBe('done');
    expect(said({ userIds })).toBe('done');
  });

  it('requires no permission to create channels if all channels exist', () => {
    expect(said({ existing: [open], held: [] }, { isDefault: true }, ['open'])).toBe('done');
  });
});

describe('creating a channel', () => {
  const priv = { privacy: { ...noWish, isPrivate: true } };
  const web = { privacy: { ...noWish, isWebPublic: true } };

  it('requires the permission for public, private or web-public channels', () => {
    expect(said({ held: ['can_create_public_channel_group'] })).toBe('done');
    expect(said({ held: ['can_create_private_channel_group'] })).toBe(insufficient);
    expect(said({ held: ['can_create_private_channel_group'] }, priv)).toBe('done');
    expect(said({ held: ['can_create_public_channel_group'] }, priv)).toBe(insufficient);
    const held: readonly RealmRight[] = [...makers, 'can_create_web_public_channel_group'];
    expect(said({ held }, web)).toBe('done');
    expect(said({}, web)).toBe(insufficient);
    expect(said({ held, offersWebPublic: false }, web)).toBe('Web-public channels are not enabled.');
  });

  it('makes the channel public with shared history by default', () => {
    expect(plan({}, ['new']).create[0]).toMatchObject({
      isPrivate: false,
      isWebPublic: false,
      isHistoryPublic: true,
    });
    expect(plan({}, ['new'], priv).create[0]).toMatchObject({ isPrivate: true, isHistoryPublic: false });
  });

  it('as a default channel is allowed only for administrators, and only if the channel is public', () => {
    const outcome = (role: Role, wish: Partial<SubscribeRequest> = {}) =>
      said({ role }, { isDefault: true, ...wish });
    expect(outcome(roles.owner)).toBe('done');
    expect(outcome(roles.administrator)).toBe('done');
    expect(outcome(roles.moderator)).toContain("don't have permission to change default channels");
    expect(outcome(roles.administrator, priv)).toBe('A default channel cannot be private.');
    expect(said({ role: roles.administrator }, priv)).toBe('done');
  });

  it('with its own retention days is allowed only for owners', () => {
    expect(said({ role: roles.owner }, { retentionDays: 7 })).toBe('done');
    expect(said({ role: roles.administrator }, { retentionDays: 7 })).toBe('Must be an organization owner');
    expect(said({ role: roles.administrator }, { retentionDays: null })).toBe('done');
  });

  it('with a topic policy requires the permission to set one, or an administrator', () => {
    const wish = { topicsPolicy: 'disable_empty_topic' } as const;
    expect(said({}, wish)).toBe(insufficient);
    expect(said({ held: [...makers, 'can_set_topics_policy_group'] }, wish)).toBe('done');
    expect(said({ role: roles.administrator }, wish)).toBe('done');
    expect(said({}, { topicsPolicy: 'inherit' })).toBe('done');
  });

  it('in a folder requires an existing folder', () => {
    expect(said({}, { folderId: 3 })).toBe('Invalid channel folder ID');
    expect(said({ isFolderKnown: true }, { folderId: 3 })).toBe('done');
  });

  it('with delete permissions requires the permission to set them, or an administrator', () => {
    for (const name of ['can_delete_any_message_group', 'can_delete_own_message_group'] as const) {
      const wish = { permissions: { [name]: cooks } };
      expect(said({}, wish)).toBe(insufficient);
      expect(said({ held: [...makers, 'can_set_delete_message_policy_group'] }, wish)).toBe('done');
      expect(said({ role: roles.administrator }, wish)).toBe('done');
    }
    expect(said({}, { permissions: { can_send_message_group: cooks } })).toBe('done');
  });

  it('sets the requested permissions, and by default makes the creator a channel administrator', () => {
    const permissions = { can_send_message_group: cooks };
    expect(plan({}, ['new'], { permissions }).create[0]?.permissions).toEqual([
      { name: 'can_administer_channel_group', value: { directMembers: [me], directSubgroups: [] } },
      { name: 'can_send_message_group', value: cooks },
    ]);
    const mine = { can_administer_channel_group: cooks };
    expect(plan({}, ['new'], { permissions: mine }).create[0]?.permissions).toEqual([
      { name: 'can_administer_channel_group', value: cooks },
    ]);
  });

  it('with protected history requires that all users can start topics', () => {
    const permissions = { can_create_topic_group: cooks };
    expect(said({}, { ...priv, permissions })).toBe('Invalid parameters');
    expect(said({}, { ...priv, permissions: { can_create_topic_group: everyoneId } })).toBe('done');
    expect(said({}, { ...priv, permissions: { can_send_message_group: cooks } })).toBe('done');
    expect(said({}, { permissions })).toBe('done');
  });
});
