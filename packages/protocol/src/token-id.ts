import { decodeBase64, encodeBase64, isPaddedBase64 } from './base64.js';

/**
 * Id of a token in the newer generation, which does not reveal the token: the first 8 bytes of the SHA-256 of the
 * token's UTF-8 bytes, in canonical base64 (12 characters). Case matters: `c0ffee` and `C0FFEE` have different ids.
 */
export type TokenId = string & { readonly brand: 'TokenId' };

const tokenIdBytes = 8;

/**
 * Creates the id from the SHA-256 of a token.
 * @throws RangeError if the digest has fewer than 8 bytes.
 */
export function tokenIdFromDigest(sha256: Uint8Array): TokenId {
  if (sha256.length < tokenIdBytes) throw new RangeError(`a digest has at least ${tokenIdBytes} bytes`);
  return encodeBase64(sha256.subarray(0, tokenIdBytes)) as TokenId;
}

/** Parses an untrusted token id. Returns `undefined` if the value is not canonical base64 of 8 bytes. */
export function parseTokenId(value: unknown): TokenId | undefined {
  const bytes = typeof value === 'string' ? decodeBase64(value) : undefined;
  return bytes?.length === tokenIdBytes ? (value as TokenId) : undefined;
}

/**
 * Reads a token id that a phone sent. Like stock servers, accepts padded base64 of 8 bytes even if unused bits are set.
 * Returns the canonical form, or `undefined` for any other string.
 */
export function readTokenId(text: string): TokenId | undefined {
  if (!isPaddedBase64(text)) return undefined;
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  return bytes.length === tokenIdBytes ? (encodeBase64(bytes) as TokenId) : undefined;
}
