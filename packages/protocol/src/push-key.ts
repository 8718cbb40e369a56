import { decodeBase64, encodeBase64 } from './base64.js';

/**
 * The random id that a phone chooses for one of its push keys: an unsigned 32-bit integer
 * (docs/protocol.md#two-generations).
 */
export type PushKeyId = number & { readonly brand: 'PushKeyId' };

/** Length in bytes of a push key, which is a key of `crypto_secretbox_easy`. */
export const pushKeyBytes = 32;

const maximumPushKeyId = 0xffff_ffff;
const decimalText = /^(?:0|[1-9]\d{0,9})$/;
// The first byte on the wire identifies the cipher: the character "1" stands for XSalsa20-Poly1305.
const secretBoxPrefix = 0x31;

/** Parses an untrusted number or decimal string. Returns `undefined` if it is not an integer from 0 to 4294967295. */
export function parsePushKeyId(value: unknown): PushKeyId | undefined {
  const id = typeof value === 'string' && decimalText.test(value) ? Number(value) : value;
  return Number.isSafeInteger(id) && (id as number) >= 0 && (id as number) <= maximumPushKeyId
    ? (id as PushKeyId)
    : undefined;
}

/**
 * Creates an id from the first four bytes. Phones pass random bytes.
 *
 * @throws RangeError if there are fewer than four bytes.
 */
export function pushKeyIdFromBytes(bytes: Uint8Array): PushKeyId {
  if (bytes.length < 4) throw new RangeError(`bytes must hold at least 4 bytes, got ${bytes.length}`);
  return new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0) as PushKeyId;
}

/**
 * Encodes a 32-byte push key as `push_key`, which is base64 of 33 bytes. The first byte identifies the cipher.
 *
 * @throws RangeError if the key has a different length.
 */
export function encodePushKey(key: Uint8Array): string {
  if (key.length !== pushKeyBytes)
    throw new RangeError(`a push key is ${pushKeyBytes} bytes, got ${key.length}`);
  return encodeBase64(Uint8Array.of(secretBoxPrefix, ...key));
}

/**
 * Decodes `push_key` to the 32-byte key. Returns `undefined` for a wrong length, a different cipher or invalid base64.
 */
export function decodePushKey(text: string): Uint8Array | undefined {
  const bytes = decodeBase64(text);
  if (bytes?.length !== 1 + pushKeyBytes || bytes[0] !== secretBoxPrefix) return undefined;
  return bytes.slice(1);
}
