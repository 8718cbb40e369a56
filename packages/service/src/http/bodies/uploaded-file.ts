import type { Readable } from 'node:stream';

/** A streamed file. The handler must read or destroy it before it responds. */
export interface UploadedFile {
  readonly name: string;
  /** As the client sent it, such as `image/png`. */
  readonly contentType: string;
  /** Fails with ProtocolError PAYLOAD_TOO_LARGE if the file exceeds its limit. */
  readonly content: Readable;
}
