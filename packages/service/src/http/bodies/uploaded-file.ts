import type { Readable } from 'node:stream';

/** A streamed file. The handler must read or destroy the stream before it returns. */
export interface UploadedFile {
  readonly name: string;
  /** The content type that the client sent, such as `image/png`. */
  readonly contentType: string;
  /** The file's bytes. The stream fails with ProtocolError PAYLOAD_TOO_LARGE if the file exceeds its limit. */
  readonly content: Readable;
}
