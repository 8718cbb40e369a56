import { randomBytes } from 'node:crypto';

const noncesPerDraw = 512;

/**
 * Unpredictable nonces, each handed out once. They are drawn many at a time: a draw costs more than what a nonce
 * encrypts.
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
