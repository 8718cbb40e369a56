import { hsalsa, xsalsa20poly1305 } from '@noble/ciphers/salsa.js';
import { blake2b } from '@noble/hashes/blake2.js';
import {
  privateKeyBytes,
  publicKeyBytes,
  sealedBoxOverheadBytes,
  secretBoxKeyBytes,
  secretBoxNonceBytes,
  secretBoxOverheadBytes,
} from './byte-sizes.js';
import { requireBytes } from './require-bytes.js';
import type { KeyPair, OpeningSodium } from './sodium.js';
import { undefinedOnFailure } from './undefined-on-failure.js';
import { x25519 } from './x25519.js';

export type { OpeningSodium } from './sodium.js';

/**
 * Decrypts boxes in JavaScript, without libsodium. It is a tenth of libsodium's size and needs no asynchronous loading,
 * so it suits service workers. It cannot seal or sign. Unlike libsodium, it does not run in constant time and cannot
 * wipe its copies of a key, so use it only on the phone that owns the key.
 */
export const openingSodium: OpeningSodium = {
  openSealed(sealed, { publicKey, privateKey }) {
    requireBytes('keyPair.publicKey', publicKey, publicKeyBytes);
    requireBytes('keyPair.privateKey', privateKey, privateKeyBytes);
    if (sealed.length < sealedBoxOverheadBytes) return undefined;
    return undefinedOnFailure(() => openSealedBox(sealed, { publicKey, privateKey }));
  },

  openSecretBox(sealed, nonce, key) {
    requireBytes('nonce', nonce, secretBoxNonceBytes);
    requireBytes('key', key, secretBoxKeyBytes);
    if (sealed.length < secretBoxOverheadBytes) return undefined;
    return undefinedOnFailure(() => xsalsa20poly1305(key, nonce).decrypt(sealed));
  },
};

/** `crypto_box_seal_open` (https://doc.libsodium.org/public-key_cryptography/sealed_boxes). */
function openSealedBox(sealed: Uint8Array, { publicKey, privateKey }: KeyPair): Uint8Array {
  const ephemeralPublicKey = sealed.slice(0, publicKeyBytes);
  const nonce = blake2b
    .create({ dkLen: secretBoxNonceBytes })
    .update(ephemeralPublicKey)
    .update(publicKey)
    .digest();
  const key = boxKey(x25519.getSharedSecret(privateKey, ephemeralPublicKey));
  return xsalsa20poly1305(key, nonce).decrypt(sealed.subarray(publicKeyBytes));
}

/** `crypto_box_beforenm`: HSalsa20 of the X25519 result, with a nonce of zeros. */
function boxKey(sharedSecret: Uint8Array): Uint8Array {
  const constants = wordsOf(new TextEncoder().encode('expand 32-byte k'));
  const key = new Uint32Array(8);
  hsalsa(constants, wordsOf(sharedSecret), new Uint32Array(4), key);
  const bytes = new DataView(new ArrayBuffer(secretBoxKeyBytes));
  key.forEach((word, index) => {
    bytes.setUint32(4 * index, word, true);
  });
  return new Uint8Array(bytes.buffer);
}

function wordsOf(bytes: Uint8Array): Uint32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Uint32Array.from({ length: bytes.length / 4 }, (_, index) => view.getUint32(4 * index, true));
}
