import type { UserId } from '@waxwing/protocol';
import { readChannelReference, readGroupMention, readUserMention, wildcardOf } from './reference-syntax.js';

// What stands before a name may be the mark of a quote or of a table's cell, which is gone when the name is read.
const anything = ' ';

/** The names that a text asks for, each once, as typed. */
export interface TextReferences {
  readonly userNames: readonly string[];
  readonly userIds: readonly UserId[];
  readonly groupNames: readonly string[];
  readonly channelNames: readonly string[];
  readonly topics: readonly { readonly channelName: string; readonly topic: string }[];
}

/**
 * Finds every name that rendering this text may look up, so that all of them are fetched in a constant number of
 * queries. It reads code blocks too and so may name a few more; it never names fewer.
 */
export function findReferences(text: string): TextReferences {
  const found: Found = {
    userNames: new Set(),
    userIds: new Set(),
    groupNames: new Set(),
    channelNames: new Set(),
    topics: new Map(),
  };
  readAll(text, found);
  // In a table a bar is written with a backslash, which is gone when the cell's text is read.
  if (text.includes('\\|')) readAll(text.replaceAll('\\|', '|'), found);
  return {
    userNames: [...found.userNames],
    userIds: [...found.userIds],
    groupNames: [...found.groupNames],
    channelNames: [...found.channelNames],
    topics: [...found.topics.values()],
  };
}

interface Found {
  readonly userNames: Set<string>;
  readonly userIds: Set<UserId>;
  readonly groupNames: Set<string>;
  readonly channelNames: Set<string>;
  readonly topics: Map<string, { readonly channelName: string; readonly topic: string }>;
}

function readAll(text: string, found: Found): void {
  const source = text.replace(/\r\n?/g, '\n').replaceAll('\0', '\uFFFD');
  for (let at = source.indexOf('@'); at >= 0; at = source.indexOf('@', at + 1))
    readMentions(source, at, found);
  for (let at = source.indexOf('#**'); at >= 0; at = source.indexOf('#**', at + 1)) {
    const reference = readChannelReference(source, at, anything);
    if (reference === undefined) continue;
    const { channelName, topic, messageId } = reference;
    found.channelNames.add(channelName);
    if (topic === undefined || messageId !== undefined) continue;
    found.topics.set(JSON.stringify([channelName, topic]), { channelName, topic });
  }
}

function readMentions(source: string, position: number, found: Found): void {
  const user = readUserMention(source, position, anything);
  if (user?.userId !== undefined) found.userIds.add(user.userId);
  else if (user?.name !== undefined && wildcardOf(user.text) === undefined) found.userNames.add(user.name);
  const group = readGroupMention(source, position, anything);
  if (group !== undefined) found.groupNames.add(group.name);
}
