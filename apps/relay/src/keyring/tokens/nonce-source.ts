import { randomBytes } from 'node:crypto';

const noncesPerDraw = 512;

/**
 * Returns a function that returns a fresh random nonce on each call. Generates 512 nonces at a time, because one call
 * to the random number generator costs more than one encryption.
 */
export function createNonceSource(nonceBytes: number): () => Buffer {
  let drawn = Buffer.alloc(0);
  let offset = 0;
  return () => {
    if (offset === drawn.length) {
      drawn = randomBytes(noncesPerDraw * nonceBytes);
      offset = 0;
    }
    offset += nonceBytes;
    return drawn.subarray(offset - nonceBytes, offset);
  };
}
