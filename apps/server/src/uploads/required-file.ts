import { ProtocolError } from '@waxwing/protocol';
import type { UploadedFile } from '@waxwing/service/http';

/** The file of a form. @throws ProtocolError BAD_REQUEST where there is none. */
export function requireFile(file: UploadedFile | undefined): UploadedFile {
  if (file !== undefined) return file;
  throw new ProtocolError('BAD_REQUEST', { message: 'You must specify a file to upload' });
}

/** The error to refuse with where keeping a file has failed: one that was too large is a bad request, with the limit. */
export function sayTooLarge(error: unknown, maximumMib: number): unknown {
  if (!(error instanceof ProtocolError) || error.code !== 'PAYLOAD_TOO_LARGE') return error;
  return new ProtocolError('BAD_REQUEST', {
    message: `The file is larger than ${maximumMib} MiB, which is the most that this server takes`,
  });
}
