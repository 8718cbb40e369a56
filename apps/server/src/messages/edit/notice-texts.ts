import { topicHash } from '@waxwing/markdown';
import type { ChannelId, MessageId, UserId } from '@waxwing/protocol';
import { realmLimits } from '../../realm/realm-limits.js';
import type { Resolution } from '../topic-text.js';

/** A topic of a channel, as notices name it. */
export interface NamedTopic {
  readonly channelId: ChannelId;
  readonly channelName: string;
  readonly topic: string;
}

/** Who did it. */
export interface NamedUser {
  readonly id: UserId;
  readonly fullName: string;
}

/** How much of a topic was moved. */
export type MovedAmount =
  | { readonly kind: 'topic' }
  | { readonly kind: 'one'; readonly messageId: MessageId }
  | { readonly kind: 'several'; readonly count: number };

/** What is written where messages came to. */
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

/** What is written where messages were. */
export function departureText(to: NamedTopic, by: NamedUser, moved: MovedAmount): string {
  const what = {
    topic: 'This topic',
    one: 'One message',
    several: moved.kind === 'several' ? `${moved.count} messages` : '',
  }[moved.kind];
  return `${what} went to ${topicLink(to)}: moved by ${silentMention(by)}.`;
}

const resolutionWords = { resolved: 'resolved this topic.', unresolved: 'opened this topic again.' } as const;

/** What is written when a topic is resolved, or open again. */
export function resolutionText(by: NamedUser, resolution: Resolution): string {
  return `${silentMention(by)} ${resolutionWords[resolution]}`;
}

/** Whether a text of the server's own is one of {@link resolutionText}. */
export function isResolutionText(text: string): boolean {
  return /^@_\*\*.*\|\d+\*\* (?:resolved this topic|opened this topic again)\.$/s.test(text);
}

function silentMention({ id, fullName }: NamedUser): string {
  return `@_**${fullName}|${id}**`;
}

/** A link to a topic, in a form that holds whatever its names are. */
export function topicLink({ channelId, channelName, topic }: NamedTopic): string {
  if (!/[`>*&[\]]|\$\$/.test(channelName + topic)) return `#**${channelName}>${topic}**`;
  const shown = topic === '' ? realmLimits.realm_empty_topic_display_name : topic;
  const text = `#${channelName} > ${shown}`.replace(
    /[`>*&[\]$<\\]/g,
    (character) => `&#${character.codePointAt(0)};`,
  );
  return `[${text}](${topicHash(channelId, channelName, topic).slice(1)})`;
}
