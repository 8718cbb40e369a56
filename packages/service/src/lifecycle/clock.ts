/**
 * Returns the time in milliseconds since the Unix epoch. Always passed in as a parameter, so that tests can control the
 * time.
 */
export type Clock = () => number;

export const systemClock: Clock = () => Date.now();

/** Converts Unix milliseconds to whole Unix seconds, rounded down. */
export function unixSeconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000);
}
