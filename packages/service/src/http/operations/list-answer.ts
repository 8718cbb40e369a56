import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { type JsonObject, type JsonValue, stringifyJson } from '@waxwing/protocol';

/** A success with a list too long to be made at once: it is sent as its pieces come, and its other fields after it. */
export class ListAnswer<Name extends string = string, Entry = unknown, Rest extends object = object> {
  readonly name: Name;
  /** The list's entries in order, as many at a time as may hold up everybody else; a piece may be empty. */
  readonly pieces: AsyncIterable<readonly Entry[]>;
  readonly rest: Rest;

  constructor(name: Name, pieces: AsyncIterable<readonly Entry[]>, rest: Rest) {
    this.name = name;
    this.pieces = pieces;
    this.rest = rest;
  }
}

/** Told of each piece before it is sent. */
type PieceListener = (piece: readonly unknown[]) => void;

/**
 * The text of the whole answer, with its other fields and `extra` ones after the list. Nothing is written before the
 * first piece has come, so that what fails until then is refused as anywhere else; other requests have their turn between
 * two pieces.
 */
export function streamList(answer: ListAnswer, extra: JsonObject, onPiece: PieceListener): Readable {
  return Readable.from(writeList(answer, extra, onPiece), { objectMode: false });
}

async function* writeList(
  { name, pieces, rest: fields }: ListAnswer,
  extra: JsonObject,
  onPiece: PieceListener,
): AsyncGenerator<string> {
  let begin = `{"result":"success","msg":"",${JSON.stringify(name)}:[`;
  for await (const piece of pieces) {
    onPiece(piece);
    if (piece.length > 0) {
      // Without the brackets of the piece's own.
      yield begin + stringifyJson(piece as JsonValue).slice(1, -1);
      begin = ',';
    }
    await setImmediate();
  }
  const rest = stringifyJson({ ...fields, ...extra }).slice(1, -1);
  yield `${begin === ',' ? '' : begin}]${rest === '' ? '' : `,${rest}`}}\n`;
}
