import libsodium from 'libsodium-wrappers';
import { expect, it } from 'vitest';
import { wipeFreedMemory } from '#sodium/wasm-heap.js';
import { sodiumBackends } from '../../support/sodium-backends.js';

const { wasm, native } = await sodiumBackends();
const { libsodium: heap } = libsodium as unknown as { libsodium: { readonly HEAPU8: Uint8Array } };

/** Returns whether any 16 consecutive bytes of the secret occur in WebAssembly memory. */
function isInHeap(secret: Uint8Array): boolean {
  const memory = Buffer.from(heap.HEAPU8.buffer);
  for (let offset = 0; offset + 16 <= secret.length; offset += 1) {
    if (memory.includes(Buffer.from(secret.subarray(offset, offset + 16)))) return true;
  }
  return false;
}

it('isInHeap finds a secret that is in WebAssembly memory', () => {
  const planted = native.randomBytes(32);
  const place = heap.HEAPU8.subarray(-32);
  const before = place.slice();
  place.set(planted);
  const found = isInHeap(planted);
  place.set(before);
  expect(found).toBe(true);
  expect(isInHeap(planted)).toBe(false);
});

it('no private key or plaintext stays in WebAssembly memory after a call', () => {
  const keyPair = wasm.generateKeyPair();
  const signing = wasm.generateSigningKeyPair();
  const secretBoxKey = wasm.randomBytes(32);
  const nonce = native.randomBytes(24);
  const plaintext = native.randomBytes(700);
  const stranger = native.generateKeyPair();

  const sealed = wasm.seal(plaintext, keyPair.publicKey);
  expect(wasm.openSealed(sealed, keyPair)).toEqual(plaintext);
  expect(wasm.openSealed(sealed, stranger)).toBeUndefined();
  const box = wasm.sealSecretBox(plaintext, nonce, secretBoxKey);
  expect(wasm.openSecretBox(box, nonce, secretBoxKey)).toEqual(plaintext);
  wasm.signDetached(plaintext, signing.privateKey);
  wasm.publicKeyOf(keyPair.privateKey);

  const secrets = [
    keyPair.privateKey,
    stranger.privateKey,
    signing.privateKey.slice(0, 32),
    secretBoxKey,
    plaintext,
  ];
  expect(secrets.map(isInHeap)).toEqual([false, false, false, false, false]);
});

it('memory that grows for a large box is also wiped, and small boxes still open afterwards', () => {
  const keyPair = native.generateKeyPair();
  const large = new Uint8Array(24 * 1024 * 1024).fill(0x5a);
  const lengthBefore = heap.HEAPU8.length;
  expect(wasm.openSealed(native.seal(large, keyPair.publicKey), keyPair)?.length).toBe(large.length);
  expect(heap.HEAPU8.length).toBeGreaterThan(lengthBefore);
  expect(isInHeap(large.subarray(0, 16))).toBe(false);
  const small = new Uint8Array([1, 2, 3]);
  expect(wasm.openSealed(wasm.seal(small, keyPair.publicKey), keyPair)).toEqual(small);
});

it('only allocated memory is wiped, and only once', () => {
  let next = 4;
  const freed: number[] = [];
  const memory = {
    HEAPU8: new Uint8Array(16).fill(7),
    _malloc: (_bytes: number) => next,
    _free: (address: number) => void freed.push(address),
  };
  wipeFreedMemory(memory);
  const allocate = memory._malloc;
  wipeFreedMemory(memory);
  expect(memory._malloc).toBe(allocate);
  memory._free(memory._malloc(4));
  expect([...memory.HEAPU8]).toEqual([7, 7, 7, 7, 0, 0, 0, 0, 7, 7, 7, 7, 7, 7, 7, 7]);
  memory.HEAPU8.fill(9);
  memory._free(4);
  // Address 0 means that `malloc` failed, so there is nothing to wipe.
  next = 0;
  memory._free(memory._malloc(16));
  expect([...memory.HEAPU8]).toEqual(Array(16).fill(9));
  expect(freed).toEqual([4, 4, 0]);
});
