import { expect, it } from 'vitest';
import { messageFlags } from '#server/conversations/messages/message-flags.js';
import {
  isNotified,
  type NotificationFacts,
} from '#server/conversations/messages/push/select-notified-users.js';
import { visibilityPolicies } from '#server/conversations/messages/topics/visibility-policies.js';

const either = [false, true];
const wishes = [undefined, false, true];
const policies = Object.keys(visibilityPolicies) as (keyof typeof visibilityPolicies)[];

interface Case {
  readonly isRead: boolean;
  readonly isMentioned: boolean;
  readonly isChannelMentioned: boolean;
  readonly isTopicMentioned: boolean;
  readonly isDirect: boolean;
  readonly isChannelMuted: boolean;
  readonly wantsOffline: boolean;
  readonly wantsChannels: boolean;
  readonly wantsFollowed: boolean;
  readonly wantsFollowedWildcards: boolean;
  readonly wantsWildcards: boolean;
  readonly policy: keyof typeof visibilityPolicies;
  readonly pushesChannel: boolean | undefined;
  readonly wildcardsNotify: boolean | undefined;
}

const values: { readonly [Name in keyof Case]: readonly Case[Name][] } = {
  isRead: either,
  isMentioned: either,
  isChannelMentioned: either,
  isTopicMentioned: either,
  isDirect: either,
  isChannelMuted: either,
  wantsOffline: either,
  wantsChannels: either,
  wantsFollowed: either,
  wantsFollowedWildcards: either,
  wantsWildcards: either,
  policy: policies,
  pushesChannel: wishes,
  wildcardsNotify: wishes,
};

function* cases(): Generator<Case> {
  const names = Object.keys(values) as (keyof Case)[];
  const count = names.reduce((product, name) => product * values[name].length, 1);
  for (let number = 0; number < count; number += 1) {
    let rest = number;
    const entries = names.map((name) => {
      const choices = values[name];
      const choice = choices[rest % choices.length];
      rest = Math.floor(rest / choices.length);
      return [name, choice] as const;
    });
    yield Object.fromEntries(entries) as unknown as Case;
  }
}

function standing(c: Case): NotificationFacts {
  const { read, mentioned, stream_wildcard_mentioned, topic_wildcard_mentioned, starred } = messageFlags;
  const flags =
    starred |
    (c.isRead ? read : 0) |
    (c.isMentioned ? mentioned : 0) |
    (c.isChannelMentioned ? stream_wildcard_mentioned : 0) |
    (c.isTopicMentioned ? topic_wildcard_mentioned : 0);
  return {
    flags,
    isDirect: c.isDirect,
    isChannelMuted: c.isChannelMuted,
    topicPolicy: visibilityPolicies[c.policy],
    pushesChannel: c.pushesChannel,
    wildcardsNotify: c.wildcardsNotify,
    settings: {
      enable_offline_push_notifications: c.wantsOffline,
      enable_stream_push_notifications: c.wantsChannels,
      enable_followed_topic_push_notifications: c.wantsFollowed,
      enable_followed_topic_wildcard_mentions_notify: c.wantsFollowedWildcards,
      wildcard_mentions_notify: c.wantsWildcards,
    },
  };
}

/** The reasons to notify a user with their conditions, one per line. */
function expected(c: Case): boolean {
  const isFollowed = c.policy === 'followed';
  const isQuiet = { none: c.isChannelMuted, muted: true, unmuted: false, followed: false }[c.policy];
  const wildcardsOfChannel = c.wildcardsNotify === undefined ? c.wantsWildcards : c.wildcardsNotify;
  const everybody = (c.isChannelMentioned || c.isTopicMentioned) && c.wantsOffline;
  const reasons = c.isDirect
    ? [c.wantsOffline]
    : [
        c.isMentioned && c.wantsOffline,
        !isQuiet && everybody && wildcardsOfChannel,
        !isQuiet && everybody && isFollowed && c.wantsFollowedWildcards,
        !isQuiet && isFollowed && c.wantsFollowed,
        !isQuiet && (c.pushesChannel === undefined ? c.wantsChannels : c.pushesChannel),
      ];
  return !c.isRead && reasons.includes(true);
}

it('the selection of phones to notify matches a table of reasons in every possible case', () => {
  const wrong: Case[] = [];
  let tried = 0;
  for (const c of cases()) {
    tried += 1;
    if (isNotified(standing(c)) !== expected(c)) wrong.push(c);
  }
  expect(tried).toBeGreaterThan(1000);
  expect(wrong.slice(0, 3)).toEqual([]);
});
