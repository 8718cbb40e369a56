import type { ChannelId } from '@waxwing/protocol';

/**
 * Encodes a name for the URL fragment of a conversation, as stock clients do: percent-encoding with `.` for `%`. Also
 * encodes `.` itself, and `!`, `'`, `(` and `)`, which would break links in Markdown.
 */
export function encodeHash(text: string): string {
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\uFFFD'))
    .replace(/[.!'()]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%', '.');
}

/** Returns the URL fragment of a channel, such as `/#narrow/channel/9-general-talk`. */
export function channelHash(channelId: ChannelId, name: string): string {
  return `/#narrow/channel/${channelId}-${encodeHash(name.replaceAll(' ', '-'))}`;
}

/** Returns the URL fragment of a topic, such as `/#narrow/channel/9-general-talk/topic/lunch`. */
export function topicHash(channelId: ChannelId, name: string, topic: string): string {
  return `${channelHash(channelId, name)}/topic/${encodeHash(topic)}`;
}
