/** What a user's copy of a message says: the word of the chat API -> its bit. Bits are in databases and never change. */
export const messageFlags = {
  read: 1,
  starred: 2,
  collapsed: 4,
  mentioned: 8,
  stream_wildcard_mentioned: 16,
  topic_wildcard_mentioned: 32,
  group_mentioned: 64,
  has_alert_word: 128,
  historical: 256,
} as const;

const namedBits = Object.entries(messageFlags);

/** The words for the bits, in the order of the table; `wildcard_mentioned` goes with either mention of everybody. */
export function flagNames(flags: number): string[] {
  const words: string[] = [];
  for (const [name, bit] of namedBits) if ((flags & bit) !== 0) words.push(name);
  const wildcards = messageFlags.stream_wildcard_mentioned | messageFlags.topic_wildcard_mentioned;
  return (flags & wildcards) === 0 ? words : [...words, 'wildcard_mentioned'];
}

/** The bit of a copy whose reader's phones were told of the message. Clients do not know of it. */
export const notifiedBit = 512;
