import { decodeBase64 } from './base64.js';

/** Bytes of an X25519 public key. */
const publicKeyBytes = 32;

/** The 32 bytes of a public key in canonical standard base64; `undefined` for any other text. */
export function decodePublicKey(text: string): Uint8Array | undefined {
  const bytes = decodeBase64(text);
  return bytes?.length === publicKeyBytes ? bytes : undefined;
}
