import { findPrivateFile } from '@waxwing/service/config';

/**
 * Why the private key that `sslkey` of a database URL names must not be used: a sentence that says what to do; `undefined`
 * for a private file, and for a URL without one. The driver reads the file itself, and says so if it cannot.
 */
export function describeOpenKeyFile(url: string): string | undefined {
  const query = url.slice(url.indexOf('?') + 1);
  const path = new URLSearchParams(query).get('sslkey');
  if (path === null || path === '') return undefined;
  try {
    const { problem } = findPrivateFile(path);
    return problem === undefined ? undefined : `The file ${path} (sslkey of the database URL) ${problem}.`;
  } catch {
    // Not there, or out of reach: the driver's own error says which.
    return undefined;
  }
}
