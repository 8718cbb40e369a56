import { xchacha20poly1305 } from '@noble/ciphers/chacha.js';
import { hsalsa, xsalsa20poly1305 } from '@noble/ciphers/salsa.js';
import { ed25519, x25519 } from '@noble/curves/ed25519.js';
import { blake2b } from '@noble/hashes/blake2.js';

/**
 * A third implementation of libsodium's operations, written from libsodium's documentation
 * (https://doc.libsodium.org/public-key_cryptography/sealed_boxes) with the primitives of @noble. Independent but slow:
 * for tests only.
 */

const publicKeyBytes = 32;
const authenticatorBytes = 16;

/** The X25519 public key of a private key. */
export function publicKeyOf(privateKey: Uint8Array): Uint8Array {
  return x25519.getPublicKey(privateKey);
}

/** `crypto_box_seal` with a given ephemeral private key instead of a random one. */
export function seal(
  plaintext: Uint8Array,
  publicKey: Uint8Array,
  ephemeralPrivateKey: Uint8Array,
): Uint8Array {
  const ephemeralPublicKey = publicKeyOf(ephemeralPrivateKey);
  const shared = x25519.getSharedSecret(ephemeralPrivateKey, publicKey);
  return sealWithSharedSecret(plaintext, publicKey, ephemeralPublicKey, shared);
}

/** Creates a sealed box from a given X25519 shared secret. Lets a test claim an ephemeral key that must be rejected. */
export function sealWithSharedSecret(
  plaintext: Uint8Array,
  publicKey: Uint8Array,
  ephemeralPublicKey: Uint8Array,
  sharedSecret: Uint8Array,
): Uint8Array {
  const nonce = sealedBoxNonce(ephemeralPublicKey, publicKey);
  return concatenate(ephemeralPublicKey, xsalsa20poly1305(boxKey(sharedSecret), nonce).encrypt(plaintext));
}

/** `crypto_box_seal_open`. Returns `undefined` if the box cannot be opened. */
export function openSealed(
  sealed: Uint8Array,
  publicKey: Uint8Array,
  privateKey: Uint8Array,
): Uint8Array | undefined {
  if (sealed.length < publicKeyBytes + authenticatorBytes) return undefined;
  const ephemeralPublicKey = sealed.slice(0, publicKeyBytes);
  const sharedSecret = undefinedIfRefused(() => x25519.getSharedSecret(privateKey, ephemeralPublicKey));
  if (sharedSecret === undefined) return undefined;
  const nonce = sealedBoxNonce(ephemeralPublicKey, publicKey);
  return openSecretBox(sealed.slice(publicKeyBytes), nonce, boxKey(sharedSecret));
}

/** `crypto_secretbox_easy`. */
export function sealSecretBox(plaintext: Uint8Array, nonce: Uint8Array, key: Uint8Array): Uint8Array {
  return xsalsa20poly1305(key, nonce).encrypt(plaintext);
}

/** `crypto_secretbox_open_easy`. Returns `undefined` if the box cannot be opened. */
export function openSecretBox(
  sealed: Uint8Array,
  nonce: Uint8Array,
  key: Uint8Array,
): Uint8Array | undefined {
  if (sealed.length < authenticatorBytes) return undefined;
  return undefinedIfRefused(() => xsalsa20poly1305(key, nonce).decrypt(sealed));
}

/** `crypto_aead_xchacha20poly1305_ietf_encrypt`. */
export function sealAead(
  plaintext: Uint8Array,
  additionalData: Uint8Array,
  nonce: Uint8Array,
  key: Uint8Array,
): Uint8Array {
  return xchacha20poly1305(key, nonce, additionalData).encrypt(plaintext);
}

/** `crypto_generichash` of 32 bytes. */
export function keyedHash(message: Uint8Array, key: Uint8Array): Uint8Array {
  return blake2b(message, { key, dkLen: 32 });
}

/** `crypto_sign_detached`. Needs only the seed, the first half of libsodium's private key. */
export function signDetached(message: Uint8Array, privateKey: Uint8Array): Uint8Array {
  return ed25519.sign(message, privateKey.slice(0, 32));
}

/** `crypto_sign_verify_detached`, with the strict rules of RFC 8032. */
export function verifyDetached(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean {
  return undefinedIfRefused(() => ed25519.verify(signature, message, publicKey, { zip215: false })) ?? false;
}

function sealedBoxNonce(ephemeralPublicKey: Uint8Array, publicKey: Uint8Array): Uint8Array {
  return blake2b(concatenate(ephemeralPublicKey, publicKey), { dkLen: 24 });
}

/** `crypto_box_beforenm`: HSalsa20 of the shared secret and a zero block. */
function boxKey(sharedSecret: Uint8Array): Uint8Array {
  const sigma = littleEndianWords(new TextEncoder().encode('expand 32-byte k'));
  const key = new Uint32Array(8);
  hsalsa(sigma, littleEndianWords(sharedSecret), new Uint32Array(4), key);
  const bytes = new DataView(new ArrayBuffer(32));
  key.forEach((word, index) => {
    bytes.setUint32(4 * index, word, true);
  });
  return new Uint8Array(bytes.buffer);
}

function littleEndianWords(bytes: Uint8Array): Uint32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Uint32Array.from({ length: bytes.length / 4 }, (_, index) => view.getUint32(4 * index, true));
}

function concatenate(first: Uint8Array, second: Uint8Array): Uint8Array {
  const whole = new Uint8Array(first.length + second.length);
  whole.set(first);
  whole.set(second, first.length);
  return whole;
}

// @noble throws a plain Error for an invalid point, authenticator or signature, so the cause cannot be checked here.
function undefinedIfRefused<T>(attempt: () => T): T | undefined {
  try {
    return attempt();
  } catch (error) {
    if (error instanceof Error && !(error instanceof TypeError)) return undefined;
    throw error;
  }
}
