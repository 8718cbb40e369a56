import libsodium from 'libsodium-wrappers';
import { describe, expect, it } from 'vitest';
import { type Libsodium, wrapLibsodium } from '#sodium/wrap-libsodium.js';

await libsodium.ready;

/** A library like react-native-libsodium, without scalar multiplication, and with one failing function. */
function wrapWith(replacements: Partial<Libsodium>) {
  const { crypto_scalarmult_base: _lacking, ...functions } = libsodium;
  return wrapLibsodium({ ...functions, ...replacements }, 'native');
}

describe('A library that lacks the scalar multiplication', () => {
  it('seals and opens, and has the backend that it was wrapped as', () => {
    const sodium = wrapWith({});
    const keyPair = sodium.generateKeyPair();
    const sealed = sodium.seal(new Uint8Array([1, 2, 3]), keyPair.publicKey);
    expect(sodium.backend).toBe('native');
    expect(sodium.openSealed(sealed, keyPair)).toEqual(new Uint8Array([1, 2, 3]));
    expect(sodium.openSealed(sealed.slice(1), keyPair)).toBeUndefined();
  });

  it('reports that it cannot derive a public key', () => {
    expect(() => wrapWith({}).publicKeyOf(new Uint8Array(32))).toThrow(
      'This libsodium cannot derive a public key: keep the one that generateKeyPair returned.',
    );
  });
});

describe('An error that is not a failure to open', () => {
  const keyPair = { publicKey: new Uint8Array(32), privateKey: new Uint8Array(32) };
  const failures: [string, unknown][] = [
    ['a trap in WebAssembly', new WebAssembly.RuntimeError('memory access out of bounds')],
    ['memory that ran out', { message: '_malloc() failed', length: 48 }],
  ];

  it.each(failures)('%s is passed on to the caller', (_name, failure) => {
    const fail = () => {
      throw failure;
    };
    const sodium = wrapWith({ crypto_box_seal_open: fail, crypto_secretbox_open_easy: fail });
    const caught: unknown[] = [];
    for (const open of [
      () => sodium.openSealed(new Uint8Array(48), keyPair),
      () => sodium.openSecretBox(new Uint8Array(48), new Uint8Array(24), new Uint8Array(32)),
    ]) {
      try {
        open();
      } catch (error) {
        caught.push(error);
      }
    }
    expect(caught).toEqual([failure, failure]);
  });
});
