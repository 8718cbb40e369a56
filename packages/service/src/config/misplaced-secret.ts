import { existsSync } from 'node:fs';
import { dirname } from 'node:path';

// Private keys in PEM, age identities, JSON key files, and 32 bytes in hexadecimal, such as server keys.
const secretShape = /-----BEGIN|AGE-SECRET-KEY-|^\s*\{|\n|^[0-9a-f]{64}$/i;
const knownExtension = /\.(?:age|env|jsonl?|key|p8|pem|txt)$/i;

/** Whether a text looks like a secret. Then it is not a path and must not be printed. */
export function isSecretText(text: string): boolean {
  return secretShape.test(text);
}

/**
 * Whether a text that names no existing file can be printed as a path: it has an extension of such files, or begins
 * with an existing folder. Anything else may be the secret that the file should contain, such as a passphrase.
 */
export function isPrintablePath(text: string): boolean {
  if (isSecretText(text)) return false;
  if (knownExtension.test(text)) return true;
  const [, firstFolder] = /^(\/?[^/]+)\//.exec(text) ?? [];
  return firstFolder !== undefined && dirname(text) !== '/' && existsSync(firstFolder);
}
