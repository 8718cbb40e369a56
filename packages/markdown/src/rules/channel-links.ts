import type { ChannelId, MessageId } from '@waxwing/protocol';
import type { MarkdownIt } from 'markdown-it';
import { channelHash, topicHash } from '../hash-encoding.js';
import type { LinkableChannel, ResolvedFacts } from '../markdown-facts.js';
import { readChannelReference } from '../reference-syntax.js';
import { renderingOf } from '../rendering.js';

/** The target of a link by name. */
export interface ChannelLink {
  readonly channelId: ChannelId;
  readonly channelName: string;
  readonly topic?: string;
  readonly messageId?: MessageId;
  readonly href: string;
}

/** Shown in place of an empty topic name. */
const emptyTopicName = '<em>general chat</em>';

/** Rule for links by name: `#**channel**`, `#**channel>topic**` and `#**channel>topic@message**`. */
export function channelLinks(md: MarkdownIt): void {
  md.inline.ruler.before('emphasis', 'channel_link', (state, silent) => {
    if (state.src[state.pos] !== '#' || state.linkLevel > 0) return false;
    const typed = readChannelReference(state.src, state.pos);
    if (typed === undefined || typed.end > state.posMax) return false;
    const { facts } = renderingOf(state.env);
    const channel = facts.channel(typed.channelName);
    if (channel === undefined) return false;
    if (!silent) {
      const { topic, messageId } = typed;
      const link: ChannelLink = {
        channelId: channel.channelId,
        channelName: channel.name,
        ...(topic !== undefined && { topic }),
        ...(messageId !== undefined && { messageId }),
        href: hrefOf(facts, channel, topic, messageId),
      };
      state.push('channel_link', 'a', 0).meta = { link };
    }
    state.pos = typed.end;
    return true;
  });
  md.renderer.rules.channel_link = (tokens, index) =>
    html(tokens[index]?.meta?.link as ChannelLink, md.utils.escapeHtml);
}

function hrefOf(
  facts: ResolvedFacts,
  { channelId, name }: LinkableChannel,
  topic: string | undefined,
  messageId: MessageId | undefined,
): string {
  if (topic === undefined) return channelHash(channelId, name);
  const hash = topicHash(channelId, name, topic);
  if (messageId !== undefined) return `${hash}/near/${messageId}`;
  const newest = facts.topic(channelId, topic);
  return newest === undefined ? hash : `${hash}/with/${newest.newestMessageId}`;
}

function html(link: ChannelLink, escapeHtml: (text: string) => string): string {
  const { channelId, topic, messageId } = link;
  const href = escapeHtml(link.href);
  const channel = `#${escapeHtml(link.channelName)}`;
  if (topic === undefined)
    return `<a class="stream" data-stream-id="${channelId}" href="${href}">${channel}</a>`;
  const text = `${channel} &gt; ${topic === '' ? emptyTopicName : escapeHtml(topic)}`;
  if (messageId !== undefined) return `<a class="message-link" href="${href}">${text} @ 💬</a>`;
  return `<a class="stream-topic" data-stream-id="${channelId}" href="${href}">${text}</a>`;
}
