import type { MessageId, UserId } from '@waxwing/protocol';

// The syntax of mentions and of links by name. Shared by `findReferences` and the rendering rules, so that both find
// the same names.

export interface UserMention {
  /** The position after the mention. */
  readonly end: number;
  readonly isSilent: boolean;
  /** The text between the asterisks, as typed. */
  readonly text: string;
  readonly name: string | undefined;
  readonly userId: UserId | undefined;
}

export interface GroupMention {
  readonly end: number;
  readonly isSilent: boolean;
  readonly name: string;
}

export interface ChannelReference {
  readonly end: number;
  readonly channelName: string;
  /** Absent for a link to the channel itself; `''` for the unnamed topic. */
  readonly topic?: string;
  readonly messageId?: MessageId;
}

const channelWildcards: ReadonlySet<string> = new Set(['all', 'everyone', 'channel', 'stream']);

const userMention = /@(_?)\*\*([^*\n]+)\*\*/y;
const groupMention = /@(_?)\*([^*\n]+)\*/y;
const channelReference = /#\*\*([^*\n]+)\*\*/y;
const mayComeBefore = /[\s'"({[/<]/;

// Limits ids to fifteen digits, so that a JavaScript number represents them exactly.
const nameAndId = /^(.*)\|([0-9]{1,15})$/;
const topicAndMessage = /^(.*)@([0-9]{1,15})$/;

/**
 * Returns the target of a wildcard mention, such as `channel` for `all`, or undefined if the text is not a wildcard.
 */
export function wildcardOf(text: string): 'channel' | 'topic' | undefined {
  if (channelWildcards.has(text)) return 'channel';
  return text === 'topic' ? 'topic' : undefined;
}

/**
 * Reads `@**Name**`, `@**Name|id**` or `@**|id**` at a position. `before` is the preceding character, which must be
 * whitespace or an opening mark such as `(`. Returns undefined if there is no mention.
 */
export function readUserMention(
  source: string,
  position: number,
  before = source[position - 1],
): UserMention | undefined {
  const match = matchAt(userMention, source, position, before);
  if (match === undefined) return undefined;
  const [, silent, text = ''] = match;
  const withId = nameAndId.exec(text);
  return {
    end: position + match[0].length,
    isSilent: silent === '_',
    text,
    name: withId === null ? text : withId[1] || undefined,
    userId: withId === null ? undefined : (Number(withId[2]) as UserId),
  };
}

/** Like `readUserMention`, for `@*group*`. */
export function readGroupMention(
  source: string,
  position: number,
  before = source[position - 1],
): GroupMention | undefined {
  const match = matchAt(groupMention, source, position, before);
  if (match === undefined) return undefined;
  return { end: position + match[0].length, isSilent: match[1] === '_', name: match[2] as string };
}

/** Like `readUserMention`, for `#**channel**`, `#**channel>topic**` and `#**channel>topic@message**`. */
export function readChannelReference(
  source: string,
  position: number,
  before = source[position - 1],
): ChannelReference | undefined {
  const match = matchAt(channelReference, source, position, before);
  if (match === undefined) return undefined;
  const end = position + match[0].length;
  const text = match[1] as string;
  const separator = text.indexOf('>');
  if (separator < 0) return { end, channelName: text };
  const channelName = text.slice(0, separator);
  const rest = text.slice(separator + 1);
  const withMessage = topicAndMessage.exec(rest);
  if (withMessage === null) return { end, channelName, topic: rest };
  return {
    end,
    channelName,
    topic: withMessage[1] as string,
    messageId: Number(withMessage[2]) as MessageId,
  };
}

/** Matches a pattern at a position that is the start of the text or follows whitespace or an opening mark. */
function matchAt(
  pattern: RegExp,
  source: string,
  position: number,
  before: string | undefined,
): RegExpExecArray | undefined {
  if (before !== undefined && !mayComeBefore.test(before)) return undefined;
  pattern.lastIndex = position;
  return pattern.exec(source) ?? undefined;
}
