import { findPrivateFile } from '@waxwing/service/config';

/**
 * Explains why the private key file in the URL's `sslkey` must not be used, and what to do. Returns `undefined` for a
 * private file, and if there is no `sslkey`. The driver itself reads the file and reports read errors.
 */
export function describeOpenKeyFile(url: string): string | undefined {
  const query = url.slice(url.indexOf('?') + 1);
  const path = new URLSearchParams(query).get('sslkey');
  if (path === null || path === '') return undefined;
  try {
    const { problem } = findPrivateFile(path);
    return problem === undefined ? undefined : `The file ${path} (sslkey of the database URL) ${problem}.`;
  } catch {
    // The file is missing or inaccessible: the driver's own error says which.
    return undefined;
  }
}
