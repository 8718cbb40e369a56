/**
 * Keeps this many calls of `work` in flight for `milliseconds`, and returns the number of calls completed per second.
 * Calls that are still in flight at the end are awaited and counted. @throws the errors of `work`.
 */
export async function keepBusy(
  atOnce: number,
  milliseconds: number,
  work: () => Promise<number>,
): Promise<number> {
  const start = performance.now();
  const until = start + milliseconds;
  let done = 0;
  const worker = async (): Promise<void> => {
    while (performance.now() < until) {
      const ended = await work();
      done += ended;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return (done * 1000) / (performance.now() - start);
}
