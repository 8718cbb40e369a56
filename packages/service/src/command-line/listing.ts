import { InvalidArgumentError, Option } from 'commander';
import type { OutputFlags } from './output.js';
import { type TableRow, tablePieces } from './table.js';
import type { Terminal } from './terminal.js';

/** The rows that a command prints. */
export interface Listing<Row> {
  /** The JSON field that contains the rows. */
  readonly name: string;
  /** The rows, read page by page while printing, so that memory never holds all of them. */
  readonly pages: AsyncIterable<readonly Row[]>;
  /** Returns a row as it appears in the JSON. */
  machines(row: Row): object;
  readonly head: readonly string[];
  /** Returns a row's cells in the table. */
  people(row: Row): TableRow;
  /** Printed instead of an empty table. Default: the table's head. */
  readonly none?: string;
}

/**
 * Prints rows page by page: as a table, or with `--json` as JSON with one row per line. Resolves to the number of rows.
 */
export async function printListing<Row>(
  terminal: Pick<Terminal, 'columns' | 'isColoured' | 'print'>,
  { json }: OutputFlags,
  listing: Listing<Row>,
): Promise<number> {
  let count = 0;
  async function* counted() {
    for await (const page of listing.pages) {
      count += page.length;
      yield page;
    }
  }
  const pieces = json
    ? jsonPieces(
        listing.name,
        mapped(counted(), (row) => JSON.stringify(listing.machines(row))),
      )
    : tablePieces(terminal, { ...listing, pages: mapped(counted(), listing.people) });
  for await (const piece of pieces) terminal.print(piece);
  return count;
}

async function* mapped<Row, Written>(
  pages: AsyncIterable<readonly Row[]>,
  write: (row: Row) => Written,
): AsyncGenerator<Written[]> {
  for await (const page of pages) yield page.map(write);
}

/**
 * Yields the JSON in pieces. Delays each row until the next is read, because a comma may follow only if there is
 * another row.
 */
async function* jsonPieces(name: string, pages: AsyncIterable<readonly string[]>): AsyncGenerator<string> {
  let last = `{${JSON.stringify(name)}:[`;
  let separator = '';
  for await (const rows of pages) {
    if (rows.length === 0) continue;
    yield [last + separator, ...rows.slice(0, -1).map((row) => `${row},`)].join('\n');
    last = rows.at(-1) ?? '';
    separator = ',';
  }
  yield `${last}]}`;
}

/** Returns the option `--limit` of commands that list rows: a whole number. Without it, all rows are listed. */
export function limitOption(): Option {
  return new Option('--limit <count>', 'maximum to list (default: all)').argParser((text) => {
    if (!/^[1-9]\d{0,8}$/.test(text)) {
      throw new InvalidArgumentError('It must be a whole number from 1 to 999999999.');
    }
    return Number(text);
  });
}
