import type { Readable } from 'node:stream';

/** The bytes of a file that are asked for, the last one included. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** Where uploaded files are. A path is used once, and the database says which files are whole. */
export interface FileStore {
  /** Keeps a file; it is durable when the promise resolves. Where it fails nothing is left, and the content is destroyed. */
  write(pathId: string, content: Readable, contentType: string): Promise<void>;
  /** A file, or a part of it; `undefined` when there is none. Whoever asks reads it to its end, or destroys it. */
  read(pathId: string, range?: ByteRange): Promise<Readable | undefined>;
  /** Removes a file, whole or not, if it is there. */
  remove(pathId: string): Promise<void>;
}
