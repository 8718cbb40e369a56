import { type ProtocolError, refused } from '@waxwing/protocol';

/** Maximum number of characters to parse in one tick, which takes about two milliseconds. A longer row is refused. */
export const chunkCharacters = 256 * 1024;

interface ReadListOptions {
  /** The parameter's name, for messages. */
  readonly name: string;
  readonly maximumRows: number;
  /** Called before each chunk is parsed. */
  nextTick(): Promise<void>;
  /** Called for each row. */
  onRow(row: unknown, index: number): void;
}

/**
 * Parses a JSON list in chunks, so that megabytes of rows do not block the event loop. `null` counts as an empty list.
 * Numbers are limited to double precision.
 * @throws ProtocolError BAD_REQUEST for a string that is not a JSON list, for too many rows, and for a row that is
 * longer than {@link chunkCharacters}.
 */
export async function readReportedList(text: string, options: ReadListOptions): Promise<void> {
  const { name, maximumRows, nextTick, onRow } = options;
  const list = text.trim();
  if (list === 'null') return;
  if (!list.startsWith('[') || !list.endsWith(']')) throw invalid(name, 'must be a JSON list');
  let start = 1;
  let count = 0;
  do {
    await nextTick();
    const end = endOfChunk(list, start, name);
    const rows = parseRows(list.slice(start, end), name);
    // A chunk may be empty only if it is the whole list. An empty chunk next to a comma is malformed.
    const isWhole = start === 1 && end === list.length - 1;
    if (rows.length === 0 && !isWhole) throw invalid(name, 'must be JSON');
    if (count + rows.length > maximumRows) throw invalid(name, `must have at most ${maximumRows} entries`);
    for (const row of rows) onRow(row, count++);
    start = end + 1;
  } while (start < list.length);
}

/** Creates the error for an invalid parameter. `problem` completes "The parameter …", such as "must be JSON". */
export function invalid(name: string, problem: string): ProtocolError {
  return refused(`Invalid ${name}: ${problem}`);
}

function parseRows(chunk: string, name: string): unknown[] {
  try {
    return JSON.parse(`[${chunk}]`) as unknown[];
  } catch {
    throw invalid(name, 'must be JSON');
  }
}

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const opening = new Set([0x5b, 0x7b]);
const closing = new Set([0x5d, 0x7d]);

/** Returns the index of the comma that ends the chunk, or of the list's last bracket. Does not check the JSON. */
function endOfChunk(list: string, start: number, name: string): number {
  const last = list.length - 1;
  if (last - start <= chunkCharacters) return last;
  let end: number | undefined;
  let depth = 0;
  for (let index = start; index < start + chunkCharacters; index += 1) {
    const character = list.charCodeAt(index);
    if (character === quote) index = endOfString(list, index);
    else if (opening.has(character)) depth += 1;
    else if (closing.has(character)) depth -= 1;
    else if (character === comma && depth === 0) end = index;
  }
  if (end !== undefined) return end;
  throw invalid(name, `an entry may have at most ${chunkCharacters} characters`);
}

/** Returns the index of the closing quote of the string that starts at `index`. */
function endOfString(list: string, index: number): number {
  for (let end = index + 1; end < list.length; end += 1) {
    const character = list.charCodeAt(end);
    if (character === backslash) end += 1;
    else if (character === quote) return end;
  }
  return list.length;
}
