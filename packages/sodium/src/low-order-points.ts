import { publicKeyBytes } from './byte-sizes.js';

/**
 * All encodings of low-order points on Curve25519 and its twist, with the unused top bit cleared. With any of these
 * public keys, X25519 returns zero for every private key (https://cr.yp.to/ecdh.html#validate; RFC 7748 section 6.1).
 */
const lowOrderPoints = [
  // 0, a point of order 2
  '0000000000000000000000000000000000000000000000000000000000000000',
  // 1, a point of order 4
  '0100000000000000000000000000000000000000000000000000000000000000',
  // Two points of order 8
  'e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800',
  '5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157',
  // p - 1, a point of order 4 on the twist
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  // p and p + 1: non-canonical encodings of 0 and 1
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
].map(bytesOfHex);

/**
 * Returns whether an X25519 public key is 32 bytes long and does not encode a low-order point. Ignores the unused top
 * bit.
 */
export function isUsablePublicKey(publicKey: Uint8Array): boolean {
  return (
    publicKey.length === publicKeyBytes && !lowOrderPoints.some((point) => isSamePoint(point, publicKey))
  );
}

function isSamePoint(point: Uint8Array, publicKey: Uint8Array): boolean {
  const last = publicKeyBytes - 1;
  for (let index = 0; index < last; index += 1) {
    if (point[index] !== publicKey[index]) return false;
  }
  return point[last] === ((publicKey[last] ?? 0) & 0x7f);
}

function bytesOfHex(hex: string): Uint8Array {
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}
