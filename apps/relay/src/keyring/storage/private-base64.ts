/**
 * Encodes and decodes base64 (RFC 4648 section 4, padded and canonical) without strings: a JavaScript string with a
 * private key could not be wiped, and the engine may copy it.
 */

const alphabet = new TextEncoder().encode('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/');
const padding = 0x3d;
const noValue = 0xff;
const values = new Uint8Array(256).fill(noValue);
for (const [value, character] of alphabet.entries()) values[character] = value;

/** Returns the number of base64 characters for `bytes` bytes. */
export function base64Length(bytes: number): number {
  return Math.ceil(bytes / 3) * 4;
}

/** Writes `bytes` as base64 into `target` at offset `at`: {@link base64Length} characters. */
export function writeBase64(bytes: Uint8Array, target: Uint8Array, at: number): void {
  const end = at + base64Length(bytes.length);
  let written = at;
  let [bits, bitCount] = [0, 0];
  for (const byte of bytes) {
    bits = ((bits << 8) | byte) & 0xffff;
    bitCount += 8;
    for (; bitCount >= 6; bitCount -= 6) target[written++] = alphabet[(bits >> (bitCount - 6)) & 63] ?? 0;
  }
  if (bitCount > 0) target[written++] = alphabet[(bits << (6 - bitCount)) & 63] ?? 0;
  target.fill(padding, written, end);
}

/** Decodes canonical base64 into a separate buffer. Returns `undefined` for any other input. */
export function readBase64(text: Uint8Array): Uint8Array | undefined {
  const paddings = text.at(-1) !== padding ? 0 : text.at(-2) !== padding ? 1 : 2;
  const digits = text.subarray(0, text.length - paddings);
  // An explicit ArrayBuffer: V8 keeps short typed arrays on its heap, where moving one leaves a copy behind.
  const bytes = new Uint8Array(new ArrayBuffer(Math.floor((digits.length * 6) / 8)));
  if (text.length !== base64Length(bytes.length)) return undefined;
  let isSound = true;
  let written = 0;
  let [bits, bitCount] = [0, 0];
  for (const character of digits) {
    const value = values[character] ?? noValue;
    isSound &&= value !== noValue;
    bits = ((bits << 6) | value) & 0xffff;
    bitCount += 6;
    if (bitCount < 8) continue;
    bitCount -= 8;
    bytes[written++] = bits >> bitCount;
  }
  const isCanonical = (bits & ((1 << bitCount) - 1)) === 0;
  if (isSound && isCanonical) return bytes;
  bytes.fill(0);
  return undefined;
}
