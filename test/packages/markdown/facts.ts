import { type MarkdownFacts, parseLinkifier } from '@waxwing/markdown';
import { channelId, groupId, messageId, userId } from '../../support/ids.js';

function linkifier(pattern: string, urlTemplate: string) {
  const parsed = parseLinkifier(pattern, urlTemplate);
  if (parsed.kind === 'problem') throw new TypeError(`Not a linkifier: ${pattern}`);
  return parsed.linkifier;
}

/** Facts about an organization with a few users, groups, channels and other things that a text can refer to. */
export const facts: MarkdownFacts = {
  realmUrl: 'https://chat.example.com',
  users: [
    { userId: userId(10), fullName: 'Ada Lovelace', isActive: true },
    { userId: userId(11), fullName: 'Alan Turing', isActive: true },
    { userId: userId(12), fullName: 'Alan Turing', isActive: false },
    { userId: userId(13), fullName: 'Grace Hopper', isActive: false },
    { userId: userId(14), fullName: '<b>"Bold"</b>', isActive: true },
  ],
  groups: [
    { groupId: groupId(3), name: 'core team', displayName: 'core team', isActive: true },
    { groupId: groupId(4), name: 'role:members', displayName: 'Members', isActive: true },
    { groupId: groupId(5), name: 'old team', displayName: 'old team', isActive: false },
  ],
  channels: [
    { channelId: channelId(9), name: 'general talk' },
    { channelId: channelId(8), name: 'a<b&"(c).d' },
  ],
  topics: [
    { channelId: channelId(9), topic: 'lunch', newestMessageId: messageId(214) },
    { channelId: channelId(9), topic: '', newestMessageId: messageId(215) },
  ],
  linkifiers: [
    linkifier('#(?P<id>[0-9]+)', 'https://tracker.example.com/issues/{id}'),
    linkifier('run (?P<code>\\w+)', 'javascript:{code}'),
  ],
  customEmoji: [{ name: 'our_logo', sourceUrl: '/user_avatars/2/emoji/logo.png' }],
};
