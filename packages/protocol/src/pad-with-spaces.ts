import { registrationSizeBucketsBytes } from './limits.js';

/**
 * Pads to a size in {@link registrationSizeBucketsBytes} with trailing spaces, so that the length reveals little. Input
 * longer than the largest size is not padded.
 */
export function padWithSpaces(bytes: Uint8Array): Uint8Array {
  const size = registrationSizeBucketsBytes.find((bucket) => bucket >= bytes.length) ?? bytes.length;
  const padded = new Uint8Array(size).fill(0x20);
  padded.set(bytes);
  return padded;
}
