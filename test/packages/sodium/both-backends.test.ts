import type { Sodium } from '@waxwing/sodium';
import { describe, expect, it } from 'vitest';
import fc from '../../support/fast-check.js';
import * as noble from '../../support/noble-oracle.js';
import { sodiumBackends } from '../../support/sodium-backends.js';

const { wasm, native } = await sodiumBackends();
const pairs: { name: string; one: Sodium; other: Sodium }[] = [
  { name: 'wasm, opened by native', one: wasm, other: native },
  { name: 'native, opened by wasm', one: native, other: wasm },
];

const message = fc.uint8Array({ maxLength: 2000 });
const key = fc.uint8Array({ minLength: 32, maxLength: 32 });
const nonce = fc.uint8Array({ minLength: 24, maxLength: 24 });
const anyBit = fc.nat();
const runs = { numRuns: 40 };

function withFlippedBit(bytes: Uint8Array, bit: number): Uint8Array {
  const flipped = bytes.slice();
  const index = (bit >> 3) % flipped.length;
  flipped[index] = (flipped[index] ?? 0) ^ (1 << (bit & 7));
  return flipped;
}

it('each backend reports its name', () => {
  expect([wasm.backend, native.backend]).toEqual(['wasm', 'native']);
});

describe.each(pairs)('Sealed by $name', ({ one, other }) => {
  it('a sealed box opens to its plaintext, also in @noble', () => {
    fc.assert(
      fc.property(message, (plaintext) => {
        const keyPair = one.generateKeyPair();
        const sealed = one.seal(plaintext, keyPair.publicKey);
        expect(sealed).toHaveLength(plaintext.length + 48);
        expect(other.openSealed(sealed, keyPair)).toEqual(plaintext);
        expect(noble.openSealed(sealed, keyPair.publicKey, keyPair.privateKey)).toEqual(plaintext);
      }),
      runs,
    );
  });

  it('a sealed box differs each time for the same plaintext', () => {
    const { publicKey } = one.generateKeyPair();
    expect(one.seal(new Uint8Array(8), publicKey)).not.toEqual(one.seal(new Uint8Array(8), publicKey));
  });

  it('a sealed box does not open if it is damaged or truncated, or with another key', () => {
    fc.assert(
      fc.property(message, anyBit, fc.nat(), (plaintext, bit, length) => {
        const keyPair = one.generateKeyPair();
        const stranger = one.generateKeyPair();
        const sealed = one.seal(plaintext, keyPair.publicKey);
        expect(other.openSealed(withFlippedBit(sealed, bit), keyPair)).toBeUndefined();
        expect(other.openSealed(sealed.slice(0, length % sealed.length), keyPair)).toBeUndefined();
        expect(other.openSealed(sealed, stranger)).toBeUndefined();
        const mixed = { publicKey: stranger.publicKey, privateKey: keyPair.privateKey };
        expect(other.openSealed(sealed, mixed)).toBeUndefined();
      }),
      runs,
    );
  });

  it('a secret box has the same bytes in the other backend and in @noble, and opens in all of them', () => {
    fc.assert(
      fc.property(message, nonce, key, (plaintext, boxNonce, boxKey) => {
        const sealed = one.sealSecretBox(plaintext, boxNonce, boxKey);
        expect(sealed).toEqual(noble.sealSecretBox(plaintext, boxNonce, boxKey));
        expect(other.openSecretBox(sealed, boxNonce, boxKey)).toEqual(plaintext);
        expect(noble.openSecretBox(sealed, boxNonce, boxKey)).toEqual(plaintext);
      }),
      runs,
    );
  });

  it('a secret box does not open with any bit flipped, or truncated', () => {
    fc.assert(
      fc.property(message, nonce, key, anyBit, (plaintext, boxNonce, boxKey, bit) => {
        const sealed = one.sealSecretBox(plaintext, boxNonce, boxKey);
        expect(other.openSecretBox(withFlippedBit(sealed, bit), boxNonce, boxKey)).toBeUndefined();
        expect(other.openSecretBox(sealed, withFlippedBit(boxNonce, bit), boxKey)).toBeUndefined();
        expect(other.openSecretBox(sealed, boxNonce, withFlippedBit(boxKey, bit))).toBeUndefined();
        expect(other.openSecretBox(sealed.slice(0, bit % sealed.length), boxNonce, boxKey)).toBeUndefined();
      }),
      runs,
    );
  });

  it('AEAD ciphertext has the same bytes in the other backend and in @noble', () => {
    fc.assert(
      fc.property(message, message, nonce, key, (plaintext, data, aeadNonce, aeadKey) => {
        const sealed = one.sealAead(plaintext, data, aeadNonce, aeadKey);
        expect(sealed).toEqual(noble.sealAead(plaintext, data, aeadNonce, aeadKey));
        expect(sealed).toHaveLength(plaintext.length + 16);
        expect(other.openAead(sealed, data, aeadNonce, aeadKey)).toEqual(plaintext);
      }),
      runs,
    );
  });

  it('AEAD ciphertext does not open if it is changed or truncated, or with other additional data', () => {
    fc.assert(
      fc.property(message, nonce, key, anyBit, (plaintext, aeadNonce, aeadKey, bit) => {
        const data = Buffer.from('a row');
        const sealed = one.sealAead(plaintext, data, aeadNonce, aeadKey);
        expect(other.openAead(withFlippedBit(sealed, bit), data, aeadNonce, aeadKey)).toBeUndefined();
        expect(other.openAead(sealed, withFlippedBit(data, bit), aeadNonce, aeadKey)).toBeUndefined();
        expect(other.openAead(sealed, new Uint8Array(), aeadNonce, aeadKey)).toBeUndefined();
        expect(other.openAead(sealed, data, withFlippedBit(aeadNonce, bit), aeadKey)).toBeUndefined();
        expect(other.openAead(sealed, data, aeadNonce, withFlippedBit(aeadKey, bit))).toBeUndefined();
        expect(
          other.openAead(sealed.slice(0, bit % sealed.length), data, aeadNonce, aeadKey),
        ).toBeUndefined();
      }),
      runs,
    );
  });

  it('a keyed hash is the same in the other backend and in @noble, and differs with another key', () => {
    fc.assert(
      fc.property(message, key, anyBit, (text, hashKey, bit) => {
        const hash = one.keyedHash(text, hashKey);
        expect(hash).toEqual(other.keyedHash(text, hashKey));
        expect(hash).toEqual(noble.keyedHash(text, hashKey));
        expect(one.keyedHash(text, withFlippedBit(hashKey, bit))).not.toEqual(hash);
      }),
      runs,
    );
  });

  it('a signature has the same bytes in the other backend and in @noble, and all of them verify it', () => {
    fc.assert(
      fc.property(message, anyBit, (text, bit) => {
        const { publicKey, privateKey } = one.generateSigningKeyPair();
        const signature = one.signDetached(text, privateKey);
        expect(signature).toEqual(other.signDetached(text, privateKey));
        expect(signature).toEqual(noble.signDetached(text, privateKey));
        expect(other.verifyDetached(signature, text, publicKey)).toBe(true);
        expect(noble.verifyDetached(signature, text, publicKey)).toBe(true);
        expect(other.verifyDetached(withFlippedBit(signature, bit), text, publicKey)).toBe(false);
        expect(other.verifyDetached(signature, new Uint8Array([...text, 0]), publicKey)).toBe(false);
        expect(other.verifyDetached(signature, text, withFlippedBit(publicKey, bit))).toBe(false);
      }),
      runs,
    );
  });

  it('a derived public key is the same as in @noble, and as in the key pair', () => {
    fc.assert(
      fc.property(key, (privateKey) => {
        expect(one.publicKeyOf(privateKey)).toEqual(other.publicKeyOf(privateKey));
        expect(one.publicKeyOf(privateKey)).toEqual(noble.publicKeyOf(privateKey));
      }),
      runs,
    );
    const { publicKey, privateKey } = one.generateKeyPair();
    expect(other.publicKeyOf(privateKey)).toEqual(publicKey);
  });
});

describe.each([wasm, native])('The $backend backend', (sodium) => {
  it('generates keys of the documented lengths, and new keys each time', () => {
    const [first, second] = [sodium.generateKeyPair(), sodium.generateKeyPair()];
    expect([first.publicKey.length, first.privateKey.length]).toEqual([32, 32]);
    expect(Object.keys(first).sort()).toEqual(['privateKey', 'publicKey']);
    expect(first.privateKey).not.toEqual(second.privateKey);
    const signing = sodium.generateSigningKeyPair();
    expect([signing.publicKey.length, signing.privateKey.length]).toEqual([32, 64]);
    expect(Object.keys(signing).sort()).toEqual(['privateKey', 'publicKey']);
    expect(signing.privateKey).not.toEqual(sodium.generateSigningKeyPair().privateKey);
  });

  it('generates random bytes of the requested length, including zero', () => {
    expect(sodium.randomBytes(0)).toEqual(new Uint8Array());
    expect(sodium.randomBytes(33)).toHaveLength(33);
    expect(sodium.randomBytes(33)).not.toEqual(sodium.randomBytes(33));
  });

  it('wipes a slice in place, and nothing around it', () => {
    const whole = new Uint8Array(8).fill(7);
    sodium.wipe(whole.subarray(2, 5));
    expect(whole).toEqual(new Uint8Array([7, 7, 0, 0, 0, 7, 7, 7]));
  });

  it('accepts pooled buffers and returns plain arrays that own all of their memory', () => {
    const { publicKey, privateKey } = sodium.generateKeyPair();
    const pooledKeys = { publicKey: Buffer.from(publicKey), privateKey: Buffer.from(privateKey) };
    const sealed = sodium.seal(Buffer.from('pooled'), pooledKeys.publicKey);
    const opened = sodium.openSealed(Buffer.from(sealed), pooledKeys);
    const signing = sodium.generateSigningKeyPair();
    const box = sodium.sealSecretBox(Buffer.from('pooled'), new Uint8Array(24), privateKey);
    const aead = sodium.sealAead(Buffer.from('pooled'), new Uint8Array(3), new Uint8Array(24), privateKey);
    const results = [
      publicKey,
      privateKey,
      sealed,
      opened,
      box,
      aead,
      sodium.openAead(aead, new Uint8Array(3), new Uint8Array(24), privateKey),
      sodium.keyedHash(Buffer.from('pooled'), privateKey),
      sodium.openSecretBox(box, new Uint8Array(24), privateKey),
      sodium.publicKeyOf(privateKey),
      signing.publicKey,
      signing.privateKey,
      sodium.signDetached(Buffer.from('pooled'), signing.privateKey),
      sodium.randomBytes(5),
    ];
    expect(opened).toEqual(new TextEncoder().encode('pooled'));
    for (const result of results) {
      expect(Object.getPrototypeOf(result)).toBe(Uint8Array.prototype);
      expect(result?.buffer.byteLength).toBe(result?.byteLength);
    }
  });
});
