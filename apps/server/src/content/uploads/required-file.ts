import { ProtocolError, refused } from '@waxwing/protocol';
import type { UploadedFile } from '@waxwing/service/http';

/** Returns the file of a form. @throws ProtocolError BAD_REQUEST if the form has no file. */
export function requireFile(file: UploadedFile | undefined): UploadedFile {
  if (file !== undefined) return file;
  throw refused('You must specify a file to upload');
}

/**
 * Returns an error handler for uploads: converts PAYLOAD_TOO_LARGE to BAD_REQUEST with the maximum size, and rethrows
 * all other errors.
 */
export function refuseTooLarge(maximumMib: number): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof ProtocolError) || error.code !== 'PAYLOAD_TOO_LARGE') throw error;
    throw refused(`The file is larger than ${maximumMib} MiB, which is the maximum on this server`);
  };
}
