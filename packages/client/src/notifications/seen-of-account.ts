interface Entry {
  /** Unix seconds. */
  readonly time: number;
  readonly name: string;
}

/** Replay protection state of one account. */
export interface SeenOfAccount {
  /** The latest `time` evicted from `entries`. */
  readonly watermark: number | undefined;
  /** Sorted by `time`. */
  readonly entries: readonly Entry[];
}

export const noneSeen: SeenOfAccount = { watermark: undefined, entries: [] };

/** Adds a notification to `seen`; returns `undefined` for a repeat. */
export function withNotification(
  { watermark, entries }: SeenOfAccount,
  { time, name }: Entry,
  capacity: number,
): SeenOfAccount | undefined {
  if (watermark !== undefined && time <= watermark) return undefined;
  if (entries.some((entry) => entry.time === time && entry.name === name)) return undefined;
  // Sorts by time, not by arrival: otherwise one notification from a clock far ahead would become the watermark.
  const all = [...entries, { time, name }].sort((one, other) => one.time - other.time);
  const [smallest] = all;
  if (all.length <= capacity || smallest === undefined) return { watermark, entries: all };
  return { watermark: smallest.time, entries: all.slice(1) };
}

/** Merges the records of two accounts, of which one takes over the keys of the other. */
export function mergeSeen(one: SeenOfAccount, other: SeenOfAccount, capacity: number): SeenOfAccount {
  const watermarks = [one.watermark, other.watermark].filter((time) => time !== undefined);
  const watermark = watermarks.length === 0 ? undefined : Math.max(...watermarks);
  const both = [...one.entries, ...other.entries].sort((left, right) => left.time - right.time);
  let merged: SeenOfAccount = { watermark, entries: [] };
  for (const entry of both) merged = withNotification(merged, entry, capacity) ?? merged;
  return merged;
}

const formatVersion = 'v1';
const noWatermark = '-';

/** Format: version, watermark or `-`, entries; separated by spaces. An entry takes 12 characters. */
export function encodeSeen({ watermark, entries }: SeenOfAccount): string {
  const words = entries.map(({ time, name }) => `${time.toString(36)}:${name}`);
  return [formatVersion, watermark?.toString(36) ?? noWatermark, ...words].join(' ');
}

/** Skips damaged parts and unknown versions, which must neither stop notifications nor end the replay protection. */
export function decodeSeen(text: string): SeenOfAccount {
  const [version, first = '', ...words] = text.split(' ');
  if (version !== formatVersion) return noneSeen;
  const entries = words.flatMap((word) => {
    const [digits = '', name] = word.split(':');
    const time = parseTime(digits);
    return time === undefined || name === undefined ? [] : [{ time, name }];
  });
  const watermark = first === noWatermark ? undefined : (parseTime(first) ?? smallestTime(entries));
  return consistent({ watermark, entries });
}

/** The latest possible watermark of `entries`, in place of one that cannot be read: evicted times are not later. */
function smallestTime(entries: readonly Entry[]): number | undefined {
  return entries.length === 0 ? undefined : Math.min(...entries.map(({ time }) => time));
}

/**
 * Skips times that contradict the others, because no entry can be earlier than the watermark. An earlier entry would lower
 * the watermark when it is evicted. A watermark later than all entries could stop notifications for centuries.
 */
function consistent({ watermark, entries }: SeenOfAccount): SeenOfAccount {
  if (watermark === undefined || entries.length === 0) return { watermark, entries };
  const others = entries.filter(({ time }) => time >= watermark);
  if (others.length > 0) return { watermark, entries: others };
  return { watermark: smallestTime(entries), entries };
}

function parseTime(digits: string): number | undefined {
  const time = /^-?[0-9a-z]{1,11}$/.test(digits) ? Number.parseInt(digits, 36) : undefined;
  return Number.isSafeInteger(time) ? time : undefined;
}
