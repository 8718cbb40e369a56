import type { ChannelId, GroupId, MessageId, UserId } from '@waxwing/protocol';
import type { MarkdownIt, Token } from 'markdown-it';
import type { ChannelLink } from './rules/channel-links.js';
import type { Mention } from './rules/mentions.js';
import { uploadPathId } from './rules/safe-links.js';

/** The references in a text. Lists contain no duplicates and follow the order of the text. */
export interface References {
  readonly mentions: {
    /** Users whose mention triggers a notification. */
    readonly userIds: readonly UserId[];
    /** Users who are mentioned silently, including in quotes. May overlap with `userIds`. */
    readonly silentUserIds: readonly UserId[];
    readonly groupIds: readonly GroupId[];
    readonly silentGroupIds: readonly GroupId[];
    /** Whether the text mentions all members of the channel or direct message. */
    readonly channelWildcard: boolean;
    /** Whether the text mentions all participants of the topic. */
    readonly topicWildcard: boolean;
  };
  readonly linkedChannelIds: readonly ChannelId[];
  readonly linkedMessageIds: readonly MessageId[];
  /** Path ids of linked uploads, percent-decoded: `<realm_id>/<xx>/<yyyy>/<file_name>`. */
  readonly uploads: readonly string[];
  /** Whether the text links to any URL, including uploads. Links to channels and topics by name do not count. */
  readonly hasLink: boolean;
}

/** Collects the references in parsed tokens. Changes the tokens: mentions in quotes become silent. */
export function collectReferences(md: MarkdownIt, tokens: readonly Token[]): References {
  const mentions: Mention[] = [];
  const links: ChannelLink[] = [];
  const hrefs: string[] = [];
  let quoteDepth = 0;
  for (const block of tokens) {
    if (block.type === 'blockquote_open') quoteDepth += 1;
    if (block.type === 'blockquote_close') quoteDepth -= 1;
    for (const token of block.children ?? []) {
      const mention = token.meta?.mention as Mention | undefined;
      if (mention !== undefined) {
        mention.isSilent ||= quoteDepth > 0;
        mentions.push(mention);
      }
      if (token.type === 'channel_link') links.push(token.meta?.link as ChannelLink);
      if (token.type === 'link_open') hrefs.push(String(token.attrGet('href')));
      if (token.type === 'linkified') hrefs.push(String(token.meta?.href));
    }
  }
  return {
    mentions: sortMentions(mentions),
    linkedChannelIds: unique(links.map(({ channelId }) => channelId)),
    linkedMessageIds: unique(links.map(({ messageId }) => messageId)),
    uploads: unique(hrefs.map((href) => uploadPathId(md, href))),
    hasLink: hrefs.length > 0,
  };
}

function sortMentions(mentions: readonly Mention[]): References['mentions'] {
  const usersOf = (list: readonly Mention[]) =>
    unique(list.map((each) => (each.kind === 'user' ? each.id : undefined)));
  const groupsOf = (list: readonly Mention[]) =>
    unique(list.map((each) => (each.kind === 'group' ? each.id : undefined)));
  const [silent, loud] = [
    mentions.filter(({ isSilent }) => isSilent),
    mentions.filter(({ isSilent }) => !isSilent),
  ];
  return {
    userIds: usersOf(loud),
    silentUserIds: usersOf(silent),
    groupIds: groupsOf(loud),
    silentGroupIds: groupsOf(silent),
    channelWildcard: loud.some(({ kind }) => kind === 'channel'),
    topicWildcard: loud.some(({ kind }) => kind === 'topic'),
  };
}

function unique<T>(values: readonly (T | undefined)[]): T[] {
  return [...new Set(values.filter((value) => value !== undefined))];
}
