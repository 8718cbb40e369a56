/**
 * Yields the rows of a table page by page (keyset pagination). `read` returns up to `rowsPerPage` rows after `last`,
 * the last row of the previous page (`undefined` for the first page). Ends after a page that is not full. Yields no
 * empty page.
 */
export async function* readPages<Row>(
  rowsPerPage: number,
  read: (last: Row | undefined) => Promise<Row[]>,
): AsyncGenerator<Row[]> {
  let last: Row | undefined;
  do {
    const rows = await read(last);
    if (rows.length > 0) yield rows;
    last = rows.length < rowsPerPage ? undefined : rows.at(-1);
  } while (last !== undefined);
}

/** Filter for the rows to list. */
export interface RowFilter {
  /** Substring that at least one of a row's strings must contain, ignoring case. */
  readonly text?: string | undefined;
  /** Maximum number of rows; default: all. */
  readonly limit?: number | undefined;
}

/**
 * Yields the matching rows of each page. `textsOf` returns the strings of a row to search. Reads no further page once
 * the limit is reached.
 */
export async function* matchingRows<Row>(
  pages: AsyncIterable<readonly Row[]> | Iterable<readonly Row[]>,
  { text = '', limit = Number.POSITIVE_INFINITY }: RowFilter,
  textsOf: (row: Row) => readonly (string | null | undefined)[],
): AsyncGenerator<Row[]> {
  const wanted = text.toLowerCase();
  const matches = (row: Row) => textsOf(row).some((each) => each?.toLowerCase().includes(wanted));
  let left = limit;
  for await (const page of pages) {
    const found = (wanted === '' ? page : page.filter(matches)).slice(0, left);
    left -= found.length;
    yield found;
    if (left <= 0) return;
  }
}
