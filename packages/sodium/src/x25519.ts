import { montgomery } from '@noble/curves/abstract/montgomery.js';

const prime = 2n ** 255n - 19n;

/**
 * X25519 (RFC 7748) in JavaScript. The library's own X25519 pulls in all of Ed25519, which would quadruple the bundle
 * size. Throws an `Error` for low-order points.
 */
export const x25519 = /* @__PURE__ */ montgomery({
  P: prime,
  type: 'x25519',
  adjustScalarBytes(bytes: Uint8Array) {
    // RFC 7748 section 5, decodeScalar25519.
    bytes[0] = (bytes[0] ?? 0) & 248;
    bytes[31] = ((bytes[31] ?? 0) & 127) | 64;
    return bytes;
  },
  powPminus2: inverse,
});

/**
 * Returns `x` to the power of `prime - 2`, which is its inverse (Fermat). Branches only on bits of the exponent, which
 * is public.
 */
function inverse(x: bigint): bigint {
  let power = 1n;
  for (const bit of (prime - 2n).toString(2)) {
    power = (power * power) % prime;
    if (bit === '1') power = (power * x) % prime;
  }
  return power;
}
