/**
 * Starts to watch the event loop. The returned function ends the watch and returns the longest block in milliseconds.
 */
export function watchHolds(): () => number {
  let longest = 0;
  let last = performance.now();
  let isWatching = true;
  const look = (): void => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    if (isWatching) setImmediate(look);
  };
  setImmediate(look);
  return () => {
    isWatching = false;
    return longest;
  };
}
