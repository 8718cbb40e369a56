import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { type JsonObject, type JsonValue, stringifyJson } from '@waxwing/protocol';

/** A success whose one field is a list too long to be made at once: it is sent as its pieces come. */
export class ListAnswer<Name extends string = string, Entry = unknown> {
  readonly name: Name;
  /** The list's entries in order, as many at a time as may hold up everybody else; a piece may be empty. */
  readonly pieces: AsyncIterable<readonly Entry[]>;

  constructor(name: Name, pieces: AsyncIterable<readonly Entry[]>) {
    this.name = name;
    this.pieces = pieces;
  }
}

/**
 * The text of the whole answer, with `extra` fields after the list. Nothing is written before the first piece has come, so
 * that what fails until then is refused as anywhere else; other requests have their turn between two pieces.
 */
export function streamList({ name, pieces }: ListAnswer, extra: JsonObject): Readable {
  return Readable.from(writeList(name, pieces, extra), { objectMode: false });
}

async function* writeList(
  name: string,
  pieces: AsyncIterable<readonly unknown[]>,
  extra: JsonObject,
): AsyncGenerator<string> {
  let begin = `{"result":"success","msg":"",${JSON.stringify(name)}:[`;
  for await (const piece of pieces) {
    if (piece.length > 0) {
      // Without the brackets of the piece's own.
      yield begin + stringifyJson(piece as JsonValue).slice(1, -1);
      begin = ',';
    }
    await setImmediate();
  }
  const rest = stringifyJson(extra).slice(1, -1);
  yield `${begin === ',' ? '' : begin}]${rest === '' ? '' : `,${rest}`}}\n`;
}
