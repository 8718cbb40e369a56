import type { Readable } from 'node:stream';

/** A byte range of a file. `end` is inclusive. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** Storage for uploaded files. Each path is written only once. The database records which files are complete. */
export interface FileStore {
  /**
   * Stores a file. The file is durable when the promise resolves. On failure, removes the partial file and destroys the
   * content stream.
   */
  write(pathId: string, content: Readable, contentType: string): Promise<void>;
  /**
   * Opens a file, or a range of it. Returns `undefined` if the file does not exist. The caller must read the stream to
   * its end or destroy it.
   */
  read(pathId: string, range?: ByteRange): Promise<Readable | undefined>;
  /** Removes a file, complete or not, if it exists. Idempotent. */
  remove(pathId: string): Promise<void>;
}
