/** Few enough that nobody waits for long for the transaction that removes them. */
const rowsPerBatch = 500;

/**
 * Calls `removeSome` with the most rows that it may remove, each call a transaction of its own, until it has fewer to
 * remove or `signal` is aborted. The answer is how many were removed.
 */
export async function removeInBatches(
  removeSome: (limit: number) => Promise<number>,
  signal: AbortSignal,
): Promise<number> {
  let removed = 0;
  for (let found = rowsPerBatch; found >= rowsPerBatch && !signal.aborted; removed += found) {
    found = await removeSome(rowsPerBatch);
  }
  return removed;
}
