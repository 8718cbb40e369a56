import type { OrganisationUnderTest } from '../organisation-under-test.js';
import type { LargeOrganisation } from './large-organisation.js';

type Act = () => Promise<unknown>;

/**
 * Operations on one user or message in a channel or group that contains all users, and operations with settings that
 * make the server search all users for one user.
 */
export async function operationsBesideMany(
  organisation: OrganisationUnderTest,
  { largeId, smallId, largeGroupId, largeMessageId: id }: LargeOrganisation,
): Promise<Record<string, Act>> {
  const [member, second, guest] = (['member', 'second', 'guest'] as const).map((who) => organisation.id(who));
  const members = await organisation.roleGroup('members');
  const send = (who: 'guest' | 'member', to: unknown, fields: Record<string, unknown> = {}) =>
    organisation.do(who, 'POST', 'messages', {
      type: 'channel',
      to,
      topic: 'one',
      content: 'hello',
      ...fields,
    });
  await organisation.do('owner', 'POST', 'users/me/subscriptions', {
    subscriptions: [{ name: 'small' }, { name: 'large' }],
    principals: [guest],
  });
  await organisation.do('owner', 'PATCH', 'realm', {
    can_access_all_users_group: { new: members },
    direct_message_permission_group: { new: members },
    require_unique_names: true,
    send_channel_events_messages: false,
  });
  return {
    'edit a message to many': () => organisation.do('member', 'PATCH', `messages/${id}`, { content: 'bye' }),
    'update a channel of many': () =>
      organisation.do('owner', 'PATCH', `streams/${largeId}`, { description: 'text' }),
    'find a channel by name': () => organisation.do('member', 'GET', 'get_stream_id', { stream: 'large' }),
    'take a unique name': () =>
      organisation.do('owner', 'PATCH', `users/${second}`, { full_name: 'Another' }),
    'send as a guest who sees few': () => send('guest', smallId, { content: 'hello, @**member**' }),
    'send directly as a guest without the permission': () =>
      send('guest', [member], { type: 'direct', topic: '' }),
    'read a user as a guest who sees few': () => organisation.do('guest', 'GET', `users/${member}`),
    'read a message as a guest who sees few': () => organisation.do('guest', 'GET', `messages/${id}`),
    'read a narrow as a guest who sees few': () =>
      organisation.do('guest', 'GET', 'messages', {
        anchor: 'newest',
        num_before: 1,
        num_after: 0,
        narrow: [{ operator: 'dm', operand: [member] }],
      }),
    'read whether a user is subscribed as a guest who sees few': () =>
      organisation.do('guest', 'GET', `users/${member}/subscriptions/${largeId}`),
    'read whether a user is in a group of many': () =>
      organisation.do('member', 'GET', `user_groups/${largeGroupId}/members/${member}`, {
        direct_member_only: true,
      }),
    'add a user to a group of many': () =>
      organisation.do('owner', 'POST', `user_groups/${largeGroupId}/members`, { add: [member] }),
    'rename a group of many': () =>
      organisation.do('owner', 'PATCH', `user_groups/${largeGroupId}`, { name: 'many others' }),
    'invite to a group of many': () =>
      organisation.do('owner', 'POST', 'invites/multiuse', { invite_as: 400, group_ids: [largeGroupId] }),
  };
}
