import { topicHash } from '@waxwing/markdown';
import type { ChannelId, MessageId, UserId } from '@waxwing/protocol';
import { realmLimits } from '../../../people/realm/realm-limits.js';
import { linkText } from '../../../platform/names/name-in-markdown.js';

/** The topic or conversation of a message, as named in its links. */
export type LinkedPlace =
  | {
      readonly kind: 'channel';
      readonly channelId: ChannelId;
      readonly channelName: string;
      readonly topic: string;
    }
  | { readonly kind: 'direct'; readonly userIds: readonly UserId[]; readonly senderId: UserId };

/**
 * Builds the two links to a message in the response to its sender. They open the message only for users who may read
 * it.
 */
export function writeMessageLinks(
  id: MessageId,
  place: LinkedPlace,
  realmUrl: string,
): { readonly message_url: string; readonly message_link: string } {
  const message_url = `${realmUrl.replace(/\/$/, '')}${placeHash(place)}/near/${id}`;
  if (place.kind === 'direct') return { message_url, message_link: message_url };
  const topic = place.topic === '' ? realmLimits.realm_empty_topic_display_name : place.topic;
  const label = `#${linkText(place.channelName)} > ${linkText(topic)} @ 💬`;
  return { message_url, message_link: `[${label}](${message_url})` };
}

function placeHash(place: LinkedPlace): string {
  if (place.kind === 'channel') return topicHash(place.channelId, place.channelName, place.topic);
  const others = place.userIds.filter((userId) => userId !== place.senderId);
  const named = others.length === 0 ? [place.senderId] : [...others].sort((one, other) => one - other);
  return `/#narrow/dm/${named.join(',')}-${named.length === 1 ? 'dm' : 'group'}`;
}
