import { sha256 } from '@noble/hashes/sha2.js';
import { encodeBase64 } from '@waxwing/protocol/phone';
import { noneSeen, type SeenEntry, type SeenOfAccount } from './seen-of-account.js';

const formatVersion = 'v1';
const noWatermark = '-';
const checksumCharacters = 8;

/**
 * Encodes the replay protection state as space-separated words: version, watermark or `-`, entries of 11 characters
 * each, and checksum.
 */
export function encodeSeen({ watermark, entries }: SeenOfAccount): string {
  const words = entries.map(({ time, name }) => `${time.toString(36)}:${name}`);
  const content = [formatVersion, watermark?.toString(36) ?? noWatermark, ...words].join(' ');
  return `${content} ${checksumOf(content)}`;
}

/**
 * Decodes the output of {@link encodeSeen}. Any other input counts as damaged, and its readable parts are kept. Damage
 * must neither disable replay protection nor make new notifications count as repeats.
 *
 * @param now Unix seconds according to the device's clock. Entries of damaged input are kept only if their time is
 * earlier.
 */
export function decodeSeen(
  text: string,
  now: number,
): { readonly seen: SeenOfAccount; readonly isDamaged: boolean } {
  const read = readSeen(text);
  const seen = consistent(read);
  if (encodeSeen(seen) === text) return { seen, isDamaged: false };
  const past = read.entries.filter(({ time }) => time < now);
  return { seen: consistent({ ...read, entries: past }), isDamaged: true };
}

/** Reads the entries. Skips unreadable entries, or everything if the version is unknown. */
function readSeen(text: string): SeenOfAccount {
  const [version, first = '', ...words] = text.split(' ');
  if (version !== formatVersion) return noneSeen;
  const watermark = first === noWatermark ? undefined : (parseTime(first) ?? Number.POSITIVE_INFINITY);
  return { watermark, entries: words.flatMap(readEntry) };
}

function readEntry(word: string): SeenEntry[] {
  const [digits = '', name] = word.split(':');
  const time = parseTime(digits);
  return time === undefined || name === undefined ? [] : [{ time, name }];
}

/**
 * Repairs inconsistent records. A watermark without entries is dropped, and a watermark later than all entries is
 * replaced: either would make new notifications count as repeats. Entries earlier than the watermark are dropped,
 * because evicting one would lower the watermark.
 */
function consistent({ watermark, entries }: SeenOfAccount): SeenOfAccount {
  const sorted = [...entries].sort((one, other) => one.time - other.time);
  const [smallest] = sorted;
  if (watermark === undefined || smallest === undefined) return { watermark: undefined, entries: sorted };
  const rest = sorted.filter(({ time }) => time >= watermark);
  // A watermark later than all entries is wrong, because the earliest entries are evicted first.
  return rest.length > 0 ? { watermark, entries: rest } : { watermark: smallest.time, entries: sorted };
}

function parseTime(digits: string): number | undefined {
  const time = /^-?[0-9a-z]{1,11}$/.test(digits) ? Number.parseInt(digits, 36) : undefined;
  return Number.isSafeInteger(time) ? time : undefined;
}

function checksumOf(content: string): string {
  return encodeBase64(sha256(new TextEncoder().encode(content))).slice(0, checksumCharacters);
}
