import { randomBytes } from 'node:crypto';

const noncesPerDraw = 512;

/** Returns unpredictable nonces, each once. Draws them in batches of 512: one draw costs more than one encryption. */
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
