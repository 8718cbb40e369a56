/** Rows per transaction. Small enough that no batch delays other writes for long. */
const rowsPerBatch = 500;

/**
 * Calls `removeSome` repeatedly with the maximum number of rows (500). Each call must use its own transaction. Stops
 * when a call removes fewer rows, or when `signal` is aborted. Returns the total number of removed rows.
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
