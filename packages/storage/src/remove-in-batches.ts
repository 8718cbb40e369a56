/** Small enough that a batch's transaction delays no other write for long. */
const rowsPerBatch = 500;

/**
 * Calls `removeSome` with the maximum number of rows (500), each call in its own transaction. Stops when it removes
 * fewer, or `signal` is aborted. Returns the total.
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
