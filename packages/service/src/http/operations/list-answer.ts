import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { type JsonObject, type JsonValue, stringifyJson } from '@waxwing/protocol';

/** A success with a long list, streamed in chunks. The other fields follow the list. */
export class ListAnswer<Name extends string = string, Entry = unknown, Rest extends object = object> {
  readonly name: Name;
  /** The entries in order. A chunk should be small enough not to block the event loop; it may be empty. */
  readonly chunks: AsyncIterable<readonly Entry[]>;
  readonly rest: Rest;

  constructor(name: Name, chunks: AsyncIterable<readonly Entry[]>, rest: Rest) {
    this.name = name;
    this.chunks = chunks;
    this.rest = rest;
  }
}

/** Called with each chunk before it is sent. */
type ChunkListener = (chunk: readonly unknown[]) => void;

/**
 * Streams the answer's JSON, with its other fields and the `extra` ones after the list. Writes nothing before the first
 * chunk, so that an earlier error still gets an error answer. Yields to the event loop between chunks.
 */
export function streamList(answer: ListAnswer, extra: JsonObject, onChunk: ChunkListener): Readable {
  return Readable.from(writeList(answer, extra, onChunk), { objectMode: false });
}

async function* writeList(
  { name, chunks, rest: fields }: ListAnswer,
  extra: JsonObject,
  onChunk: ChunkListener,
): AsyncGenerator<string> {
  let begin = `{"result":"success","msg":"",${JSON.stringify(name)}:[`;
  for await (const chunk of chunks) {
    onChunk(chunk);
    if (chunk.length > 0) {
      // Without the chunk's own brackets.
      yield begin + stringifyJson(chunk as JsonValue).slice(1, -1);
      begin = ',';
    }
    await setImmediate();
  }
  const rest = stringifyJson({ ...fields, ...extra }).slice(1, -1);
  yield `${begin === ',' ? '' : begin}]${rest === '' ? '' : `,${rest}`}}\n`;
}
