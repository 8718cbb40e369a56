/**
 * Keeps so many calls of `work` under way for `milliseconds` and gives how many ended per second; those that are still
 * under way then are waited for and counted. @throws whatever `work` throws.
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
