/** Rows per read. Bounded, so that a large table does not block other work. */
const rowsPerPage = 1000;

/** Callbacks that read a table in id order, and remove the rows that are due. */
export interface PagedRemoval<Row extends { readonly id: number }> {
  /** Returns up to `limit` rows with ids greater than `after`. */
  read(after: number, limit: number): Promise<readonly Row[]>;
  /** Removes those rows of a page that are due. Returns their number. */
  remove(rows: readonly Row[]): Promise<number>;
}

/**
 * Scans a table page by page, without an index, and removes the rows that are due. An index on a timestamp that every
 * registration updates would cost more than one scan per day. Stops when `signal` is aborted. Returns the total number
 * of removed rows.
 */
export async function removeInPages<Row extends { readonly id: number }>(
  { read, remove }: PagedRemoval<Row>,
  signal: AbortSignal,
): Promise<number> {
  let removed = 0;
  for (let after = 0; !signal.aborted; ) {
    const rows = await read(after, rowsPerPage);
    const last = rows.at(-1);
    if (last === undefined) break;
    removed += await remove(rows);
    after = last.id;
  }
  return removed;
}
