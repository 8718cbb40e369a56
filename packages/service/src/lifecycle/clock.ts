/** Now, in milliseconds since the Unix epoch. A parameter everywhere, so that tests can hold it still. */
export type Clock = () => number;

export const systemClock: Clock = () => Date.now();

/** Whole Unix seconds, rounded down. */
export function unixSeconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000);
}
