import { openingSodium } from '@waxwing/sodium/opening';
import { describe, expect, it } from 'vitest';
import fc from '../../support/fast-check.js';
import * as noble from '../../support/noble-oracle.js';
import { relayProtocolVectors } from '../../support/protocol-vectors.js';
import { sodiumBackends } from '../../support/sodium-backends.js';

const { wasm } = await sodiumBackends();
const vectors = relayProtocolVectors();

const bytes = (base64: string) => new Uint8Array(Buffer.from(base64, 'base64'));
const text = (plaintext: Uint8Array | undefined) => plaintext && new TextDecoder().decode(plaintext);
const message = fc.uint8Array({ maxLength: 4000 });
const key = fc.uint8Array({ minLength: 32, maxLength: 32 });
const nonce = fc.uint8Array({ minLength: 24, maxLength: 24 });
const runs = { numRuns: 40 };

/** Damaged boxes: one flipped bit, a truncated or extended box, or arbitrary bytes. */
const damages = fc.oneof(
  fc.nat().map((bit) => (box: Uint8Array) => {
    const flipped = box.slice();
    const index = (bit >> 3) % flipped.length;
    flipped[index] = (flipped[index] ?? 0) ^ (1 << (bit & 7));
    return flipped;
  }),
  fc.nat().map((end) => (box: Uint8Array) => box.slice(0, end % box.length)),
  fc.constant((box: Uint8Array) => Uint8Array.of(...box, 0)),
  fc.uint8Array({ maxLength: 200 }).map((other) => () => other),
);

describe('Opening without libsodium', () => {
  it.each(vectors.registrations)(
    'opens the sealed $kind registration in the vectors',
    ({ sealed, plaintext }) => {
      const keyPair = {
        publicKey: bytes(vectors.bouncer_public_key),
        privateKey: bytes(vectors.bouncer_private_key),
      };
      expect(text(openingSodium.openSealed(bytes(sealed), keyPair))).toBe(plaintext);
    },
  );

  it.each(vectors.notifications)('opens the $type notification in the vectors', (notification) => {
    const data = bytes(notification.encrypted_data);
    const pushKey = bytes(vectors.push_key).slice(1);
    const plaintext = openingSodium.openSecretBox(data.slice(24), data.slice(0, 24), pushKey);
    expect(text(plaintext)).toBe(notification.plaintext_utf8);
  });

  it('opens the older generation’s notification in the vectors', () => {
    const { encrypted_data, plaintext, push_public_key, client_private_key } = vectors.gen11;
    const keyPair = { publicKey: bytes(push_public_key), privateKey: bytes(client_private_key) };
    expect(text(openingSodium.openSealed(bytes(encrypted_data), keyPair))).toBe(plaintext);
  });

  it('opens the same intact and damaged sealed boxes as libsodium', () => {
    fc.assert(
      fc.property(message, key, damages, (plaintext, privateKey, damage) => {
        const keyPair = { publicKey: wasm.publicKeyOf(privateKey), privateKey };
        const sealed = wasm.seal(plaintext, keyPair.publicKey);
        expect(openingSodium.openSealed(sealed, keyPair)).toEqual(plaintext);
        const damaged = damage(sealed);
        expect(openingSodium.openSealed(damaged, keyPair)).toEqual(wasm.openSealed(damaged, keyPair));
        expect(openingSodium.openSealed(sealed, wasm.generateKeyPair())).toBeUndefined();
      }),
      runs,
    );
  });

  it('opens the same intact and damaged secret boxes as libsodium', () => {
    fc.assert(
      fc.property(message, nonce, key, damages, (plaintext, given, secret, damage) => {
        const sealed = wasm.sealSecretBox(plaintext, given, secret);
        expect(openingSodium.openSecretBox(sealed, given, secret)).toEqual(plaintext);
        const damaged = damage(sealed);
        expect(openingSodium.openSecretBox(damaged, given, secret)).toEqual(
          wasm.openSecretBox(damaged, given, secret),
        );
      }),
      runs,
    );
  });

  it.each([0, 1])('does not open a box whose ephemeral key is a low-order point: %d', (point) => {
    const keyPair = wasm.generateKeyPair();
    const ephemeralKey = new Uint8Array(32);
    ephemeralKey[0] = point;
    // Anyone can forge this box, because the X25519 shared secret is zero for every private key.
    const forged = noble.sealWithSharedSecret(
      bytes('aGk='),
      keyPair.publicKey,
      ephemeralKey,
      new Uint8Array(32),
    );
    expect(openingSodium.openSealed(forged, keyPair)).toBeUndefined();
    expect(wasm.openSealed(forged, keyPair)).toBeUndefined();
  });

  it('leaves its arguments unchanged, and opens a part of a larger array', () => {
    const keyPair = wasm.generateKeyPair();
    const sealed = wasm.seal(bytes('aGk='), keyPair.publicKey);
    const large = Uint8Array.of(9, ...sealed, 9);
    const before = structuredClone({ large, keyPair });
    expect(openingSodium.openSealed(large.subarray(1, -1), keyPair)).toEqual(bytes('aGk='));
    expect({ large, keyPair }).toEqual(before);
  });

  it('names an argument of the wrong length, like the libsodium backends', () => {
    const { publicKey, privateKey } = wasm.generateKeyPair();
    for (const sodium of [wasm, openingSodium]) {
      const short = new Uint8Array(31);
      const box = new Uint8Array(100);
      expect(() => sodium.openSealed(box, { publicKey: short, privateKey })).toThrow(
        'keyPair.publicKey must be 32 bytes, but is 31.',
      );
      expect(() => sodium.openSealed(box, { publicKey, privateKey: short })).toThrow(
        'keyPair.privateKey must be 32 bytes, but is 31.',
      );
      expect(() => sodium.openSecretBox(box, new Uint8Array(12), privateKey)).toThrow(
        'nonce must be 24 bytes, but is 12.',
      );
      expect(() => sodium.openSecretBox(box, new Uint8Array(24), short)).toThrow(
        'key must be 32 bytes, but is 31.',
      );
    }
  });
});
