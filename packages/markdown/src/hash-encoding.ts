import type { ChannelId } from '@waxwing/protocol';
/** The addresses of conversations in the fragment of a URL, as stock clients read them. */

/** Percent-encoding with dots for percent signs; what would break a link in a text is encoded too. */
export function encodeHash(text: string): string {
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\uFFFD'))
    .replace(/[.!'()]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%', '.');
}

export function channelHash(channelId: ChannelId, name: string): string {
  return `/#narrow/channel/${channelId}-${encodeHash(name.replaceAll(' ', '-'))}`;
}

export function topicHash(channelId: ChannelId, name: string, topic: string): string {
  return `${channelHash(channelId, name)}/topic/${encodeHash(topic)}`;
}
