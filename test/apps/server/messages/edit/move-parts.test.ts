import { expect, it } from 'vitest';
import {
  arrivalText,
  departureText,
  isResolutionText,
  resolutionText,
  topicLink,
} from '#server/conversations/messages/edit/notice-texts.js';
import { mergedWants } from '#server/conversations/messages/edit/topic-settings.js';
import type { VisibilityPolicy } from '#server/conversations/messages/topics/visibility-policies.js';
import { channelId, messageId, userId } from '../../../../support/ids.js';

const by = { id: userId(7), fullName: 'Ada' };
const lunch = { channelId: channelId(1), channelName: 'food', topic: 'lunch' };
const dinner = { channelId: channelId(2), channelName: 'late food', topic: 'dinner' };

it('a topic link works for any names of the channel and topic', () => {
  expect(topicLink(lunch)).toBe('#**food>lunch**');
  expect(topicLink({ ...lunch, topic: '' })).toBe('#**food>**');
  expect(topicLink({ ...lunch, topic: 'a*b' })).toBe(
    '[#food &#62; a&#42;b](#narrow/channel/1-food/topic/a*b)',
  );
  expect(topicLink({ ...lunch, topic: '$$x' })).toContain('&#36;&#36;x');
  expect(topicLink({ ...lunch, channelName: 'a`b', topic: '' })).toContain('a&#96;b &#62; general chat');
});

it('notices in the topics say how many messages moved, from or to where, and by which user', () => {
  const url = 'https://chat.example.com/';
  expect(arrivalText(lunch, dinner, by, { kind: 'topic' }, url)).toBe(
    'This topic came from #**food>lunch**; @_**Ada|7** moved it here.',
  );
  expect(arrivalText(lunch, dinner, by, { kind: 'one', messageId: messageId(5) }, url)).toBe(
    '[One message](https://chat.example.com/#narrow/channel/2-late-food/topic/dinner/near/5) came from #**food>lunch**; @_**Ada|7** moved it here.',
  );
  expect(arrivalText(lunch, dinner, by, { kind: 'several', count: 3 }, url)).toMatch(/^3 messages came from/);
  const amounts = [
    { kind: 'topic' },
    { kind: 'one', messageId: messageId(5) },
    { kind: 'several', count: 3 },
  ] as const;
  expect(amounts.map((amount) => departureText(dinner, by, amount))).toEqual(
    ['This topic', 'One message', '3 messages'].map(
      (what) => `${what} went to #**late food>dinner**: moved by @_**Ada|7**.`,
    ),
  );
});

it('only notices about resolved and reopened topics are recognized', () => {
  for (const resolution of ['resolved', 'unresolved'] as const)
    expect(isResolutionText(resolutionText(by, resolution))).toBe(true);
  for (const text of ['hello', departureText(dinner, by, { kind: 'topic' }), 'Ada resolved this topic.'])
    expect(isResolutionText(text)).toBe(false);
});

it('the more visible policy wins: followed, unmuted, none, muted; a new topic takes the old policy', () => {
  const wants = (ofOld?: VisibilityPolicy, ofNew?: VisibilityPolicy, isTopicNew = false) =>
    mergedWants({ userId: userId(1), ofOld, ofNew }, { isTopicNew, usersLosingAccess: new Set() });
  expect([wants(3, 2), wants(1, 2), wants(2, 1), wants(1, 1), wants(3, undefined)]).toEqual([3, 2, 2, 1, 3]);
  // A user who muted only one topic has the default policy for the other. The default policy wins, because it is more
  // visible.
  expect([wants(1, undefined), wants(undefined, 1)]).toEqual([0, 0]);
  expect([wants(1, undefined, true), wants(1, 3, true)]).toEqual([1, 1]);
  const lost = { isTopicNew: true, usersLosingAccess: new Set([userId(1)]) };
  expect(mergedWants({ userId: userId(1), ofOld: 3, ofNew: undefined }, lost)).toBe(0);
  expect(mergedWants({ userId: userId(1), ofOld: 3, ofNew: 1 }, lost)).toBe(1);
});
