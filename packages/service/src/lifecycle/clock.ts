/** Returns the time in milliseconds since the Unix epoch. Injected everywhere, so that tests can control it. */
export type Clock = () => number;

export const systemClock: Clock = () => Date.now();

/** Whole Unix seconds, rounded down. */
export function unixSeconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000);
}
