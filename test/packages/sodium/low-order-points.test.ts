import { x25519 } from '@noble/curves/ed25519.js';
import { describe, expect, it } from 'vitest';
import { sodiumBackends } from '../../support/sodium-backends.js';

const { wasm, native } = await sodiumBackends();

const prime = 2n ** 255n - 19n;

// The u-coordinates listed on https://cr.yp.to/ecdh.html#validate, in decimal as on that page.
const ordersUpTo8 = [
  0n,
  1n,
  325606250916557431795983626356110631294008115727848805560023387167927233504n,
  39382357235489614581723060781553021112529911719440698176882885853963445705823n,
  prime - 1n,
];
const unreduced = [prime, prime + 1n];

function littleEndian(value: bigint): Uint8Array {
  return Uint8Array.from({ length: 32 }, (_, index) => Number((value >> BigInt(8 * index)) & 0xffn));
}

const encodings = [...ordersUpTo8, ...unreduced].flatMap((value) => [
  { u: value, topBit: 'clear', bytes: littleEndian(value) },
  { u: value, topBit: 'set', bytes: littleEndian(value + 2n ** 255n) },
]);

describe.each([wasm, native])('The $backend backend', (sodium) => {
  it.each(encodings)('rejects the low-order point $u with its top bit $topBit', ({ bytes }) => {
    expect(sodium.isUsablePublicKey(bytes)).toBe(false);
    expect(() => sodium.seal(new Uint8Array(1), bytes)).toThrow(RangeError);
  });

  it('accepts a key pair and the neighbours of every low-order point', () => {
    expect(sodium.isUsablePublicKey(sodium.generateKeyPair().publicKey)).toBe(true);
    const neighbours = [2n, prime - 2n, prime + 2n, ...ordersUpTo8.slice(2, 4).map((value) => value + 1n)];
    for (const neighbour of neighbours) {
      expect(sodium.isUsablePublicKey(littleEndian(neighbour)), String(neighbour)).toBe(true);
      expect(sodium.seal(new Uint8Array(1), littleEndian(neighbour))).toHaveLength(49);
    }
  });

  it('rejects every length but 32', () => {
    for (const length of [0, 31, 33, 64]) {
      expect(sodium.isUsablePublicKey(new Uint8Array(length).fill(9))).toBe(false);
    }
  });
});

it.each(encodings)('@noble agrees that $u with its top bit $topBit yields no shared secret', ({ bytes }) => {
  expect(() => x25519.getSharedSecret(new Uint8Array(32).fill(9), bytes)).toThrow();
});
