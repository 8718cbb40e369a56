/**
 * The flags of a user's copy of a message: bits by chat API name. Databases store these bits, so they must never
 * change. Bit 512 is {@link notifiedBit}.
 */
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
  hide_link_previews: 1024,
} as const;

/** The bits of all kinds of mentions. */
export const mentionBits =
  messageFlags.mentioned |
  messageFlags.group_mentioned |
  messageFlags.stream_wildcard_mentioned |
  messageFlags.topic_wildcard_mentioned;

const namedBits = Object.entries(messageFlags);

/**
 * Returns the names of the set bits, in the order of {@link messageFlags}. Either wildcard mention also adds
 * `wildcard_mentioned`.
 */
export function flagNames(flags: number): string[] {
  const words: string[] = [];
  for (const [name, bit] of namedBits) if ((flags & bit) !== 0) words.push(name);
  const wildcards = messageFlags.stream_wildcard_mentioned | messageFlags.topic_wildcard_mentioned;
  return (flags & wildcards) === 0 ? words : [...words, 'wildcard_mentioned'];
}

/** Internal bit of a copy: push notifications for the message were sent to the user. Not visible to clients. */
export const notifiedBit = 512;
