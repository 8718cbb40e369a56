import { Readable } from 'node:stream';
import { type JsonObject, stringifyJson } from '@waxwing/protocol';
import { writeEntries } from './encoded-answer.js';

/** A success with a long list that is streamed in chunks. Its other fields follow the list. */
export class ListAnswer<Name extends string = string, Entry = unknown, Rest extends object = object> {
  readonly name: Name;
  /**
   * The entries, in order. Each chunk is produced in a separate tick, so chunks should be small enough not to block the
   * event loop. A chunk may be empty.
   */
  readonly chunks: AsyncIterable<readonly Entry[]>;
  readonly rest: Rest;
  /** Headers other than the content type, such as an ETag. By default, clients must not store the response. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    name: Name,
    chunks: AsyncIterable<readonly Entry[]>,
    rest: Rest,
    headers: Readonly<Record<string, string>> = { 'cache-control': 'no-store' },
  ) {
    this.name = name;
    this.chunks = chunks;
    this.rest = rest;
    this.headers = headers;
  }
}

/** Callbacks of {@link streamList}. */
export interface Streaming {
  /** Resolves when the next chunk may be produced. */
  beginChunk(): Promise<void>;
  /** Called with each chunk before it is sent. */
  onChunk(chunk: readonly unknown[]): void;
  /** Called when a chunk has been produced. The client may read it much later. */
  endChunk(): void;
  /** Called after the last chunk. */
  onComplete(): void;
}

/**
 * Streams the answer's JSON. Its other fields and the `extra` fields follow the list. Writes nothing before the first
 * chunk, so that an earlier error can still produce an error response. The caller must already have begun the first
 * chunk.
 */
export function streamList(answer: ListAnswer, extra: JsonObject, streaming: Streaming): Readable {
  return Readable.from(writeList(answer, extra, streaming), { objectMode: false });
}

async function* writeList(
  { name, chunks, rest: fields }: ListAnswer,
  extra: JsonObject,
  streaming: Streaming,
): AsyncGenerator<string | Uint8Array> {
  const head = `{"result":"success","msg":"",${JSON.stringify(name)}:`;
  let begin: '[' | ',' = '[';
  for await (const chunk of chunks) {
    streaming.onChunk(chunk);
    const entries = chunk.length > 0 ? writeEntries(begin, chunk) : undefined;
    streaming.endChunk();
    if (entries !== undefined) {
      if (begin === '[') yield head;
      begin = ',';
      yield entries;
    }
    await streaming.beginChunk();
  }
  streaming.onComplete();
  const rest = stringifyJson({ ...fields, ...extra }).slice(1, -1);
  yield `${begin === ',' ? '' : `${head}[`}]${rest === '' ? '' : `,${rest}`}}\n`;
}
