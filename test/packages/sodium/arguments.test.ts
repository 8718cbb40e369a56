import { describe, expect, it } from 'vitest';
import { sodiumBackends } from '../../support/sodium-backends.js';

const { wasm, native } = await sodiumBackends();
const none = new Uint8Array();
const of = (length: number) => new Uint8Array(length).fill(9);

describe.each([wasm, native])('The $backend backend', (sodium) => {
  const mistakes: [string, () => unknown, string][] = [
    ['seal', () => sodium.seal(none, of(31)), 'publicKey must be 32 bytes, but is 31.'],
    ['publicKeyOf', () => sodium.publicKeyOf(of(64)), 'privateKey must be 32 bytes, but is 64.'],
    [
      'openSealed',
      () => sodium.openSealed(of(60), { publicKey: of(33), privateKey: of(32) }),
      'keyPair.publicKey must be 32 bytes, but is 33.',
    ],
    [
      'openSealed',
      () => sodium.openSealed(none, { publicKey: of(32), privateKey: none }),
      'keyPair.privateKey must be 32 bytes, but is 0.',
    ],
    ['sealSecretBox', () => sodium.sealSecretBox(none, of(23), of(32)), 'nonce must be 24 bytes, but is 23.'],
    ['sealSecretBox', () => sodium.sealSecretBox(none, of(24), of(33)), 'key must be 32 bytes, but is 33.'],
    ['openSecretBox', () => sodium.openSecretBox(none, of(25), of(32)), 'nonce must be 24 bytes, but is 25.'],
    ['openSecretBox', () => sodium.openSecretBox(none, of(24), of(31)), 'key must be 32 bytes, but is 31.'],
    ['sealAead', () => sodium.sealAead(none, none, of(12), of(32)), 'nonce must be 24 bytes, but is 12.'],
    ['sealAead', () => sodium.sealAead(none, none, of(24), of(16)), 'key must be 32 bytes, but is 16.'],
    ['openAead', () => sodium.openAead(none, none, of(12), of(32)), 'nonce must be 24 bytes, but is 12.'],
    ['openAead', () => sodium.openAead(none, none, of(24), of(33)), 'key must be 32 bytes, but is 33.'],
    ['keyedHash', () => sodium.keyedHash(none, of(16)), 'key must be 32 bytes, but is 16.'],
    ['signDetached', () => sodium.signDetached(none, of(32)), 'privateKey must be 64 bytes, but is 32.'],
    [
      'randomBytes',
      () => sodium.randomBytes(-1),
      'length must be a whole number of bytes from 0, but is -1.',
    ],
    [
      'randomBytes',
      () => sodium.randomBytes(1.5),
      'length must be a whole number of bytes from 0, but is 1.5.',
    ],
    [
      'seal',
      () => sodium.seal(none, new Uint8Array(32)),
      'publicKey must not be a low-order point: anyone could open what is sealed to it.',
    ],
  ];

  it.each(mistakes)('%s names the invalid argument', (_name, call, text) => {
    expect(call).toThrow(new RangeError(text));
  });

  it('returns undefined for boxes of every length that is too short', () => {
    const keyPair = sodium.generateKeyPair();
    for (let length = 0; length < 49; length += 1) {
      expect(sodium.openSealed(of(length), keyPair)).toBeUndefined();
    }
    for (let length = 0; length < 17; length += 1) {
      expect(sodium.openSecretBox(of(length), of(24), of(32))).toBeUndefined();
      expect(sodium.openAead(of(length), none, of(24), of(32))).toBeUndefined();
    }
  });

  it('rejects malformed signatures instead of throwing', () => {
    const { publicKey, privateKey } = sodium.generateSigningKeyPair();
    const message = of(20);
    const signature = sodium.signDetached(message, privateKey);
    const longer = new Uint8Array([...signature, 0]);
    for (const malformed of [none, signature.slice(0, 63), longer, of(64), new Uint8Array(64)]) {
      expect(sodium.verifyDetached(malformed, message, publicKey)).toBe(false);
    }
    const unreduced = signature.slice();
    unreduced.fill(0xff, 32);
    expect(sodium.verifyDetached(unreduced, message, publicKey)).toBe(false);
    for (const malformed of [none, publicKey.slice(1), privateKey, new Uint8Array(32), of(32).fill(0xff)]) {
      expect(sodium.verifyDetached(signature, message, malformed)).toBe(false);
    }
    expect(sodium.verifyDetached(signature, message, publicKey)).toBe(true);
  });
});
