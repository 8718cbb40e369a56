import { Readable } from 'node:stream';
import { type JsonObject, type JsonValue, stringifyJson } from '@waxwing/protocol';

/** A success with a long list, streamed in chunks. The other fields follow the list. */
export class ListAnswer<Name extends string = string, Entry = unknown, Rest extends object = object> {
  readonly name: Name;
  /**
   * The entries in order. Each chunk is made in a tick of its own, and should be small enough not to block the event loop;
   * it may be empty.
   */
  readonly chunks: AsyncIterable<readonly Entry[]>;
  readonly rest: Rest;

  constructor(name: Name, chunks: AsyncIterable<readonly Entry[]>, rest: Rest) {
    this.name = name;
    this.chunks = chunks;
    this.rest = rest;
  }
}

/** What {@link streamList} reports and waits for. */
export interface Streaming {
  /** Called with each chunk before it is sent. */
  onChunk(chunk: readonly unknown[]): void;
  /** Called while the stream waits for its client, which may read slowly. */
  onPause(): void;
  onResume(): void;
  /** Called once all chunks are sent. */
  onComplete(): void;
  /** Resolves in the tick in which the next chunk may be made. */
  nextTick(): Promise<void>;
}

/**
 * Streams the answer's JSON, with its other fields and the `extra` ones after the list. Writes nothing before the first
 * chunk, so that an earlier error still gets an error answer. Waits for a tick after each chunk.
 */
export function streamList(answer: ListAnswer, extra: JsonObject, streaming: Streaming): Readable {
  return Readable.from(writeList(answer, extra, streaming), { objectMode: false });
}

async function* writeList(
  { name, chunks, rest: fields }: ListAnswer,
  extra: JsonObject,
  streaming: Streaming,
): AsyncGenerator<string> {
  let begin = `{"result":"success","msg":"",${JSON.stringify(name)}:[`;
  for await (const chunk of chunks) {
    streaming.onChunk(chunk);
    if (chunk.length > 0) {
      // Without the chunk's own brackets.
      const text = begin + stringifyJson(chunk as JsonValue).slice(1, -1);
      begin = ',';
      streaming.onPause();
      yield text;
      streaming.onResume();
    }
    await streaming.nextTick();
  }
  streaming.onComplete();
  const rest = stringifyJson({ ...fields, ...extra }).slice(1, -1);
  yield `${begin === ',' ? '' : begin}]${rest === '' ? '' : `,${rest}`}}\n`;
}
