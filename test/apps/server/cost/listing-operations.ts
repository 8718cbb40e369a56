import type { OrganisationUnderTest } from '../organisation-under-test.js';
import type { LargeOrganisation } from './large-organisation.js';

type Act = () => Promise<unknown>;

/** Operations that list, mention or find a few of many channels and groups. */
export async function listingOperations(
  organisation: OrganisationUnderTest,
  { largeId, smallId }: LargeOrganisation,
): Promise<Record<string, Act>> {
  const second = organisation.id('second');
  const { fewId, folderId, privateMessageId } = await prepare(organisation);
  const read = (operand: unknown, operator = 'channel') =>
    organisation.do('member', 'GET', 'messages', {
      anchor: 'newest',
      num_before: 1,
      num_after: 0,
      narrow: [{ operator, operand }],
    });
  const mention = (group: string) =>
    organisation.do('member', 'POST', 'messages', {
      type: 'channel',
      to: smallId,
      topic: 'one',
      content: `hello, @*${group}*`,
    });
  const { id: mentioningId } = await mention('few');
  return {
    'read messages in a channel': () => read(smallId),
    'read messages in a named channel': () => read('small'),
    'read messages in public channels': () => read('public', 'channels'),
    'read a message in a private channel': () =>
      organisation.do('second', 'GET', `messages/${privateMessageId}`),
    'mention a group of few': () => mention('few'),
    'mention a group of many': () => mention('many 2'),
    'edit a mention of a group of few': () =>
      organisation.do('member', 'PATCH', `messages/${mentioningId}`, { content: 'bye, @*few*' }),
    'list the members of a group of few': () =>
      organisation.do('member', 'GET', `user_groups/${fewId}/members`),
    'deactivate a group of few': () => organisation.do('owner', 'POST', `user_groups/${fewId}/deactivate`),
    "list a user's own subscriptions": () => organisation.do('second', 'GET', 'users/me/subscriptions'),
    "list a user's channels": () => organisation.do('owner', 'GET', `users/${second}/channels`),
    'list subscribed channels': () => organisation.do('second', 'GET', 'streams', { include_public: false }),
    'make a channel a default channel': () =>
      organisation.do('owner', 'POST', 'default_streams', { stream_id: largeId }),
    'archive a folder': () =>
      organisation.do('owner', 'PATCH', `channel_folders/${folderId}`, { is_archived: true }),
    'register as a guest who cannot read the newest messages': () =>
      organisation.do('guest', 'POST', 'register', { event_types: ['message'] }),
    'mark messages of a channel as read': () =>
      organisation.do('owner', 'POST', 'messages/flags/narrow', {
        anchor: 'newest',
        num_before: 1,
        num_after: 0,
        narrow: [{ operator: 'channel', operand: smallId }],
        op: 'add',
        flag: 'read',
      }),
  };
}

async function prepare(organisation: OrganisationUnderTest) {
  const { group_id: fewId } = await organisation.do('owner', 'POST', 'user_groups/create', {
    name: 'few',
    description: '',
    members: [organisation.id('member')],
  });
  const { channel_folder_id: folderId } = await organisation.do('owner', 'POST', 'channel_folders/create', {
    name: 'folder',
  });
  await organisation.do('second', 'POST', 'users/me/subscriptions', {
    subscriptions: [{ name: 'private' }],
    invite_only: true,
  });
  const { id: privateMessageId } = await organisation.do('second', 'POST', 'messages', {
    type: 'channel',
    to: 'private',
    topic: 'one',
    content: 'hello',
  });
  return { fewId, folderId, privateMessageId };
}
