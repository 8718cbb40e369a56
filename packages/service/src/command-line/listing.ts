import { InvalidArgumentError } from 'commander';
import { type OutputFlags, withJson } from './output.js';
import { type TableRow, tablePieces } from './table.js';
import type { Terminal } from './terminal.js';

/** Flags of a command that lists rows. */
export interface ListFlags extends OutputFlags {
  readonly limit?: number;
}

/** The rows that a command prints. */
export interface Listing<Row> {
  /** The JSON field that contains the rows. */
  readonly name: string;
  /** The rows, read page by page while printing, so the process never holds all of them in memory. */
  readonly pages: AsyncIterable<readonly Row[]>;
  /** Returns a row as it appears in the JSON output. */
  machines(row: Row): object;
  /** Additional fields in the JSON output. */
  readonly more?: Readonly<Record<string, unknown>>;
  readonly head: readonly string[];
  /** Returns a row's cells in the table. */
  people(row: Row): TableRow;
  /** Text to print instead of an empty table. Default: the table header alone. */
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
        listing.more,
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
 * Yields the JSON in pieces. Holds each row until the next one is read: only then is it known whether a comma follows.
 */
async function* jsonPieces(
  name: string,
  pages: AsyncIterable<readonly string[]>,
  more: object = {},
): AsyncGenerator<string> {
  let last = `{${JSON.stringify(name)}:[`;
  let separator = '';
  for await (const rows of pages) {
    if (rows.length === 0) continue;
    yield [last + separator, ...rows.slice(0, -1).map((row) => `${row},`)].join('\n');
    last = rows.at(-1) ?? '';
    separator = ',';
  }
  const fields = JSON.stringify(more).slice(1);
  yield `${last}]${fields === '}' ? '' : ','}${fields}`;
}

/** The part of Commander's `Command` that {@link withListing} uses. */
interface TakesListOptions<Self> {
  argument(name: string, description: string): Self;
  option(flags: string, description: string): Self;
  option<Value>(
    flags: string,
    description: string,
    parse: (text: string, previous: Value) => Value,
    defaultValue?: Value,
  ): Self;
}

/**
 * Adds the argument `[text]` and the options `--limit` and `--json`, which all list commands take. `searched` describes
 * the fields that are searched. `limit` is the default limit; without it, the command lists all rows.
 */
export function withListing<Command extends TakesListOptions<Command>>(
  command: Command,
  { searched, limit }: { readonly searched: string; readonly limit?: number },
): Command {
  const described = command
    .argument('[text]', `only those with this text in their ${searched}`)
    .option<number | undefined>(
      '--limit <count>',
      `maximum to list${limit === undefined ? ' (default: all)' : ''}`,
      readLimit,
      limit,
    );
  return withJson(described);
}

function readLimit(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) {
    throw new InvalidArgumentError('It must be a whole number from 1 to 999999999.');
  }
  return Number(text);
}
