// Matches canonical base64 whose length is a multiple of four. Callers check the length separately, which is twice as
// fast as a pattern of groups of four.
const canonicalBase64 = /^[A-Za-z0-9+/]*(?:[AQgw]==|[AEIMQUYcgkosw048]=)?$/;
// Matches what stock peers decode: padded base64 whose unused bits may be set.
const paddedBase64 = /^[A-Za-z0-9+/]*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const asciiWhitespace = /[\t\n\v\f\r ]+/g;

interface NodeBuffer {
  from(text: string, encoding: 'base64'): Uint8Array & { toString(encoding: 'base64'): string };
  from(buffer: ArrayBufferLike, offset: number, length: number): { toString(encoding: 'base64'): string };
}

// Node's `Buffer` is twenty times as fast as `atob`. Browsers and React Native have only `atob`.
const nodeBuffer = (globalThis as { Buffer?: NodeBuffer }).Buffer;

/**
 * Returns whether `text` is canonical standard base64 (RFC 4648 section 4), that is, padded, with no other characters
 * and with unused bits set to zero.
 */
export function isCanonicalBase64(text: string): boolean {
  return text.length % 4 === 0 && canonicalBase64.test(text);
}

/** Returns whether `text` is padded standard base64. Unlike in canonical base64, unused bits may be set. */
export function isPaddedBase64(text: string): boolean {
  return text.length % 4 === 0 && paddedBase64.test(text);
}

/** Decodes canonical standard base64 (RFC 4648 section 4). Returns `undefined` for anything else. */
export function decodeBase64(text: string): Uint8Array | undefined {
  if (nodeBuffer !== undefined) {
    const decoded = nodeBuffer.from(text, 'base64');
    // Only canonical base64 survives the round trip. This check in native code is faster than a regular expression.
    return decoded.toString('base64') === text ? new Uint8Array(decoded) : undefined;
  }
  if (!isCanonicalBase64(text)) return undefined;
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let index = 0; index < binary.length; index += 1) bytes[index] = binary.charCodeAt(index);
  return bytes;
}

/**
 * Decodes ciphertext, which may contain ASCII whitespace as in {@link normalizeCiphertextBase64}. Returns `undefined`
 * if the rest is not canonical base64.
 */
export function decodeCiphertextBase64(text: string): Uint8Array | undefined {
  return decodeBase64(text) ?? decodeBase64(text.replace(asciiWhitespace, ''));
}

/** Encodes bytes as padded standard base64. */
export function encodeBase64(bytes: Uint8Array): string {
  if (nodeBuffer !== undefined) {
    return nodeBuffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
  }
  let binary = '';
  for (let offset = 0; offset < bytes.length; offset += 8192) {
    binary += String.fromCharCode(...bytes.subarray(offset, offset + 8192));
  }
  return btoa(binary);
}

/**
 * Normalizes ciphertext from a peer to canonical base64: removes ASCII whitespace, because some encoders break lines.
 * Returns `undefined` if the rest is not canonical.
 */
export function normalizeCiphertextBase64(text: string): string | undefined {
  if (isCanonicalBase64(text)) return text;
  const compact = text.replace(asciiWhitespace, '');
  return isCanonicalBase64(compact) ? compact : undefined;
}
