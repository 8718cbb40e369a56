import type { UserId } from '@waxwing/protocol';
import { readChannelReference, readGroupMention, readUserMention, wildcardOf } from './reference-syntax.js';

// Preceding character that lets a name match anywhere. The renderer removes quote and table marks before it reads
// names.
const anyPredecessor = ' ';

/** The names and ids in a text, as typed, without duplicates. */
export interface TextReferences {
  readonly userNames: readonly string[];
  readonly userIds: readonly UserId[];
  readonly groupNames: readonly string[];
  readonly channelNames: readonly string[];
  readonly topics: readonly { readonly channelName: string; readonly topic: string }[];
}

/**
 * Finds every name that `renderMarkdown` may look up for this text, so that the caller can fetch all facts in a
 * constant number of queries. Returns a superset: names in code blocks are included, although rendering ignores them.
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
  // A table cell escapes `|` with a backslash, which the table rule removes before names are read.
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
    const reference = readChannelReference(source, at, anyPredecessor);
    if (reference === undefined) continue;
    const { channelName, topic, messageId } = reference;
    found.channelNames.add(channelName);
    if (topic === undefined || messageId !== undefined) continue;
    found.topics.set(JSON.stringify([channelName, topic]), { channelName, topic });
  }
}

function readMentions(source: string, position: number, found: Found): void {
  const user = readUserMention(source, position, anyPredecessor);
  if (user?.userId !== undefined) found.userIds.add(user.userId);
  else if (user?.name !== undefined && wildcardOf(user.text) === undefined) found.userNames.add(user.name);
  const group = readGroupMention(source, position, anyPredecessor);
  if (group !== undefined) found.groupNames.add(group.name);
}
