import { decodeBase64 } from './base64.js';

/** Size of an X25519 public key, in bytes. */
const publicKeyBytes = 32;

/** Decodes a 32-byte public key from canonical standard base64. Returns `undefined` for any other string. */
export function decodePublicKey(text: string): Uint8Array | undefined {
  const bytes = decodeBase64(text);
  return bytes?.length === publicKeyBytes ? bytes : undefined;
}
