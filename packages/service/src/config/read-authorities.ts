import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { ConfigurationError } from './configuration-error.js';
import { fileTrouble } from './file-trouble.js';
import { isPrintablePath } from './misplaced-secret.js';

const pemCertificate = /-----BEGIN CERTIFICATE-----([\s\S]*?)-----END CERTIFICATE-----/g;

/**
 * Reads CA certificates in PEM format from `file`, the value of `setting`. Returns them as one PEM string with
 * normalized line breaks.
 * @throws ConfigurationError if the file cannot be read or contains no certificate.
 */
export async function readAuthorities(file: string, setting: string): Promise<string> {
  const subject = `${setting}: the file ${file}`;
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    const shown = isPrintablePath(file) ? subject : `${setting}: the file, whose path is not shown,`;
    throw new ConfigurationError([`${shown} cannot be read: ${fileTrouble(cause)}.`], { cause });
  });
  const certificates = [...text.replace(/\\[rn]/g, '\n').matchAll(pemCertificate)];
  try {
    if (certificates.length === 0) throw new Error('there is no PEM');
    return certificates.map(([, base64 = '']) => parseCertificate(base64).toString()).join('');
  } catch (cause) {
    const problem = `${subject} contains no PEM certificate: use one that begins with -----BEGIN CERTIFICATE-----.`;
    throw new ConfigurationError([problem], { cause });
  }
}

function parseCertificate(base64: string): X509Certificate {
  return new X509Certificate(Buffer.from(base64, 'base64'));
}
