import libsodium from 'libsodium-wrappers';
import { describe, expect, it } from 'vitest';
import { type Libsodium, wrapLibsodium } from '#sodium/wrap-libsodium.js';

await libsodium.ready;

/** Wraps a library like react-native-libsodium: without scalar multiplication, and with some functions replaced. */
function wrapWith(replacements: Partial<Libsodium>) {
  const { crypto_scalarmult_base: _lacking, ...functions } = libsodium;
  return wrapLibsodium({ ...functions, ...replacements }, 'native');
}

describe('A library without scalar multiplication', () => {
  it('seals and opens, and reports the backend given by the caller', () => {
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

describe('An error other than a failed decryption', () => {
  const keyPair = { publicKey: new Uint8Array(32), privateKey: new Uint8Array(32) };
  const failures: [string, unknown][] = [
    ['a trap in WebAssembly', new WebAssembly.RuntimeError('memory access out of bounds')],
    ['an out-of-memory error', { message: '_malloc() failed', length: 48 }],
  ];

  it.each(failures)('propagates to the caller: %s', (_name, failure) => {
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
