import type { Readable } from 'node:stream';

/** A file as it arrives. It is to be read, or destroyed, before the request is answered. */
export interface UploadedFile {
  readonly name: string;
  /** As the requester says, such as `image/png`. */
  readonly contentType: string;
  /** Fails with ProtocolError PAYLOAD_TOO_LARGE when the file is larger than allowed. */
  readonly content: Readable;
}
