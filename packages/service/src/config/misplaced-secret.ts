import { existsSync } from 'node:fs';
import { dirname } from 'node:path';

// Matches private keys in PEM, age identities, JSON key files, and 32 bytes in hexadecimal, such as server keys.
const secretShape = /-----BEGIN|AGE-SECRET-KEY-|^\s*\{|\n|^[0-9a-f]{64}$/i;
/**
 * Matches the secrets from {@link secretShape} that can be recognized within a longer text, such as a name or a
 * message.
 */
const secretInText = /-----BEGIN [A-Z ]*PRIVATE KEY|AGE-SECRET-KEY-|"private_key"|\b[0-9a-f]{64}\b/i;
/**
 * Matches a password in a URL (before the host or in a parameter), in a libpq keyword string, or in a URL with a
 * mistyped beginning.
 */
const passwordShape = /^[\w+.-]+:\S+@|^[\w+.-]+:\/.*:.*@|password\s*=/is;
/** Matches API keys, and keys in base64, base64url or hexadecimal. */
const keyShape = /^(?=.*[a-zA-Z])(?=.*\d|.*[a-z].*[A-Z]|.*[A-Z].*[a-z])[\w+/=-]{20,}$/;
/**
 * Matches words and short numbers, such as `Organization-Settings-2026`. A random key does not match, because some part
 * of it mixes digits and both cases.
 */
const nameShape = /^(?:[A-Z]?[a-z]+|[A-Z]+|\d{1,4})(?:[-_](?:[A-Z]?[a-z]+|[A-Z]+|\d{1,4}))+$/;
/** Matches four or more words, such as a diceware passphrase. */
const passphraseShape = /^[^\s:@/.-]+(?:[\s-]+[^\s:@/.-]+){3,}$/;
/** Also matches mistyped UUIDs. */
const uuidShape = /^[0-9a-f]*(?:-[0-9a-f]*){3,5}$/i;
const knownExtension = /\.(?:age|env|jsonl?|key|p8|pem|txt)$/i;

/** Whether a string looks like a secret. If so, it is not a path and must not be printed. */
export function isSecretText(text: string): boolean {
  return secretShape.test(text);
}

/** Whether a string contains a private key or a server key. Neither belongs in a name or a message. */
export function holdsSecret(text: string): boolean {
  return secretInText.test(text);
}

/** Whether a string is a URL or connection string with a password, even if mistyped. */
export function holdsPassword(text: string): boolean {
  return passwordShape.test(text);
}

/**
 * Whether a string may be a secret that error messages must not repeat: a private key, a URL with a password, an API
 * key, or a passphrase of four words. UUIDs, e-mail addresses, host names, paths, and names made of words and short
 * numbers are not treated as secrets.
 */
export function mayBeSecret(text: string): boolean {
  if (isSecretText(text) || holdsPassword(text)) return true;
  const isKey = keyShape.test(text) && !nameShape.test(text);
  if (!isKey && !passphraseShape.test(text)) return false;
  return !uuidShape.test(text) && !isPrintablePath(text) && !existsSync(text);
}

/**
 * Whether a string can be printed as a path even if no such file exists, because it has a known extension or begins
 * with an existing folder. Any other string may be the secret that the file should contain, such as a passphrase.
 */
export function isPrintablePath(text: string): boolean {
  if (isSecretText(text) || holdsPassword(text)) return false;
  if (knownExtension.test(text)) return true;
  const [, firstFolder] = /^(\/?[^/]+)\//.exec(text) ?? [];
  return firstFolder !== undefined && dirname(text) !== '/' && existsSync(firstFolder);
}

/**
 * Hides those of the `words` in a message that may be secrets. A word may start with an option name, as in `--to=file`.
 */
export function hideSecrets(message: string, words: readonly string[]): string {
  const secrets = words
    .flatMap((word) => [
      word,
      word.replace(/^-+/, ''),
      word.replace(/^--?[\w-]+=/, ''),
      word.replace(/^[a-z]+:/, ''),
    ])
    .filter((word) => word !== '' && mayBeSecret(word))
    .sort((one, other) => other.length - one.length);
  return secrets.reduce((text, secret) => text.replaceAll(secret, hiddenSecret), message);
}

const hiddenSecret = '(not shown, because it may be a secret)';
