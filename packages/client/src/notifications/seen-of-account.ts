export interface SeenEntry {
  /** Unix seconds. */
  readonly time: number;
  readonly name: string;
}

/** Replay protection state of one account. */
export interface SeenOfAccount {
  /** The latest `time` evicted from `entries`. If set, `entries` is not empty and contains no earlier `time`. */
  readonly watermark: number | undefined;
  /** Sorted by `time`. */
  readonly entries: readonly SeenEntry[];
}

export const noneSeen: SeenOfAccount = { watermark: undefined, entries: [] };

/** Adds a notification to `seen`; returns `undefined` for a repeat. */
export function withNotification(
  seen: SeenOfAccount,
  { time, name }: SeenEntry,
  capacity: number,
): SeenOfAccount | undefined {
  const { watermark, entries } = seen;
  if (watermark !== undefined && time <= watermark) return undefined;
  if (entries.some((entry) => isSame(entry, { time, name }))) return undefined;
  return mergeSeen(seen, { watermark: undefined, entries: [{ time, name }] }, capacity);
}

/** Merges the records of two accounts, for an account that takes over another account's keys. */
export function mergeSeen(one: SeenOfAccount, other: SeenOfAccount, capacity: number): SeenOfAccount {
  const watermarks = [one.watermark, other.watermark].filter((time) => time !== undefined);
  const watermark = watermarks.length === 0 ? undefined : Math.max(...watermarks);
  const others = other.entries.filter((entry) => !one.entries.some((each) => isSame(each, entry)));
  // Sorts by time, not by arrival. Otherwise a notification with a `time` far in the future could become the watermark.
  const all = [...one.entries, ...others]
    .filter(({ time }) => watermark === undefined || time >= watermark)
    .sort((left, right) => left.time - right.time);
  const lastEvicted = all[all.length - capacity - 1];
  return { watermark: lastEvicted?.time ?? watermark, entries: all.slice(-capacity) };
}

function isSame(one: SeenEntry, other: SeenEntry): boolean {
  return one.time === other.time && one.name === other.name;
}
