import { base64Length, readBase64, writeBase64 } from './private-base64.js';

/**
 * Moves private keys between a document's bytes and separate byte arrays, so that no JavaScript string ever contains a
 * private key. In the parsed or written text, a placeholder of the same length replaces each key.
 */

const quote = 0x22;
const backslash = 0x5c;
const secretNames: ReadonlySet<string> = new Set(['private_key', 'encryption_key', 'lookup_key']);
const longestName = Math.max(...[...secretNames].map(({ length }) => length));

/** Inserts secrets into a document that is being written. */
export class SecretWriter {
  readonly #secrets = new Map<string, Uint8Array>();

  /** Returns the placeholder of a secret. {@link write} reads `bytes` later, so they must not change until then. */
  placeholder(bytes: Uint8Array): string {
    const text = placeholderOf(this.#secrets.size, bytes, base64Length(bytes.length));
    this.#secrets.set(text, bytes);
    return text;
  }

  /** Returns the text with each placeholder replaced by its secret in base64. The caller wipes the result. */
  write(text: string): Uint8Array {
    const document = new TextEncoder().encode(text);
    const ascii = Buffer.from(document.buffer, document.byteOffset, document.byteLength);
    for (const [placeholder, bytes] of this.#secrets)
      writeBase64(bytes, document, ascii.indexOf(placeholder));
    return document;
  }
}

/**
 * Extracts the values of secret members from a JSON document, in place. Each value is replaced by a placeholder
 * that matches {@link placeholderPattern}, or by spaces if it is not canonical base64. The document may be invalid
 * JSON.
 */
export function takeSecrets(document: Uint8Array): Map<string, Uint8Array> {
  const secrets = new Map<string, Uint8Array>();
  let nameEnd: number | undefined;
  for (let at = document.indexOf(quote); at >= 0; ) {
    const start = at + 1;
    const end = endOfString(document, start);
    const text = document.subarray(start, end);
    if (nameEnd !== undefined && isColon(document.subarray(nameEnd + 1, at))) takeSecret(text, secrets);
    nameEnd = isSecretName(text) ? end : undefined;
    at = document.indexOf(quote, end + 1);
  }
  return secrets;
}

/** Matches the placeholder of a secret of `bytes` bytes. */
export function placeholderPattern(bytes: number): RegExp {
  return new RegExp(`^#\\d+:${bytes}#+$`);
}

function takeSecret(text: Uint8Array, secrets: Map<string, Uint8Array>): void {
  const bytes = readBase64(text);
  const placeholder = bytes === undefined ? '' : placeholderOf(secrets.size, bytes, text.length);
  text.fill(0x20);
  // A value too short for a placeholder is not a key.
  if (bytes === undefined || placeholder.length > text.length) return;
  new TextEncoder().encodeInto(placeholder, text);
  secrets.set(placeholder, bytes);
}

function placeholderOf(index: number, { length }: Uint8Array, characters: number): string {
  return `#${index}:${length}#`.padEnd(characters, '#');
}

function isSecretName(text: Uint8Array): boolean {
  return text.length <= longestName && secretNames.has(new TextDecoder().decode(text));
}

function isColon(between: Uint8Array): boolean {
  return between.length < 100 && new TextDecoder().decode(between).trim() === ':';
}

function endOfString(document: Uint8Array, start: number): number {
  let at = start;
  while (at < document.length && document[at] !== quote) at += document[at] === backslash ? 2 : 1;
  return Math.min(at, document.length);
}
