import { topicHash } from '@waxwing/markdown';
import type { ChannelId, MessageId, UserId } from '@waxwing/protocol';
import { realmLimits } from '../../../people/realm/realm-limits.js';
import { isMentionable, linkText } from '../../../platform/names/name-in-markdown.js';
import type { Resolution } from '../topic-text.js';

/** A topic and its channel, as named in notices. */
export interface NamedTopic {
  readonly channelId: ChannelId;
  readonly channelName: string;
  readonly topic: string;
}

/** The user who made the move. */
export interface NamedUser {
  readonly id: UserId;
  readonly fullName: string;
}

/** How much of a topic moved. */
export type MovedAmount =
  | { readonly kind: 'topic' }
  | { readonly kind: 'one'; readonly messageId: MessageId }
  | { readonly kind: 'several'; readonly count: number };

/** Returns the text of the notice in the topic that messages moved to. */
export function arrivalText(
  from: NamedTopic,
  to: NamedTopic,
  by: NamedUser,
  moved: MovedAmount,
  realmUrl: string,
): string {
  const who = silentMention(by);
  if (moved.kind === 'topic') return `This topic came from ${topicLink(from)}; ${who} moved it here.`;
  if (moved.kind === 'several')
    return `${moved.count} messages came from ${topicLink(from)}; ${who} moved them here.`;
  const url = `${realmUrl.replace(/\/$/, '')}${topicHash(to.channelId, to.channelName, to.topic)}/near/${moved.messageId}`;
  return `[One message](${url}) came from ${topicLink(from)}; ${who} moved it here.`;
}

/** Returns the text of the notice in the topic that messages moved from. */
export function departureText(to: NamedTopic, by: NamedUser, moved: MovedAmount): string {
  const what = {
    topic: 'This topic',
    one: 'One message',
    several: moved.kind === 'several' ? `${moved.count} messages` : '',
  }[moved.kind];
  return `${what} went to ${topicLink(to)}: moved by ${silentMention(by)}.`;
}

const resolutionWords = { resolved: 'resolved this topic.', unresolved: 'opened this topic again.' } as const;

/** Returns the text of the notice about a resolved or reopened topic. */
export function resolutionText(by: NamedUser, resolution: Resolution): string {
  return `${silentMention(by)} ${resolutionWords[resolution]}`;
}

/** Returns whether a text written by the server matches {@link resolutionText}. */
export function isResolutionText(text: string): boolean {
  return /^@_\*\*.*\|\d+\*\* (?:resolved this topic|opened this topic again)\.$/s.test(text);
}

function silentMention({ id, fullName }: NamedUser): string {
  return `@_**${fullName}|${id}**`;
}

/** Returns a Markdown link to a topic. Falls back to an explicit URL if a name contains Markdown special characters. */
export function topicLink({ channelId, channelName, topic }: NamedTopic): string {
  if (isMentionable(channelName) && isMentionable(topic)) return `#**${channelName}>${topic}**`;
  const shown = topic === '' ? realmLimits.realm_empty_topic_display_name : topic;
  return `[${linkText(`#${channelName} > ${shown}`)}](${topicHash(channelId, channelName, topic).slice(1)})`;
}
