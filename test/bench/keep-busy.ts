/**
 * Keeps `atOnce` calls of `work` in flight for `milliseconds`, and returns the number of completed calls per second.
 * Waits for calls that are still in flight at the end, and counts them.
 * @throws the errors of `work`.
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
