import { keyedHashBytes } from './byte-sizes.js';
import { checkArguments } from './check-arguments.js';
import type { KeyPair, Sodium, SodiumBackend } from './sodium.js';
import { undefinedOnFailure } from './undefined-on-failure.js';

/** The part of the API shared by libsodium-wrappers and react-native-libsodium that this package uses. */
export interface Libsodium {
  crypto_box_keypair(): KeyPair;
  /** Absent in react-native-libsodium. */
  crypto_scalarmult_base?(privateKey: Uint8Array): Uint8Array;
  crypto_box_seal(message: Uint8Array, publicKey: Uint8Array): Uint8Array;
  crypto_box_seal_open(ciphertext: Uint8Array, publicKey: Uint8Array, privateKey: Uint8Array): Uint8Array;
  crypto_secretbox_easy(message: Uint8Array, nonce: Uint8Array, key: Uint8Array): Uint8Array;
  crypto_secretbox_open_easy(ciphertext: Uint8Array, nonce: Uint8Array, key: Uint8Array): Uint8Array;
  crypto_aead_xchacha20poly1305_ietf_encrypt(
    message: Uint8Array,
    additionalData: Uint8Array,
    unused: null,
    nonce: Uint8Array,
    key: Uint8Array,
  ): Uint8Array;
  crypto_aead_xchacha20poly1305_ietf_decrypt(
    unused: null,
    ciphertext: Uint8Array,
    additionalData: Uint8Array,
    nonce: Uint8Array,
    key: Uint8Array,
  ): Uint8Array;
  crypto_generichash(length: number, message: Uint8Array, key: Uint8Array): Uint8Array;
  crypto_sign_keypair(): KeyPair;
  crypto_sign_detached(message: Uint8Array, privateKey: Uint8Array): Uint8Array;
  crypto_sign_verify_detached(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean;
  randombytes_buf(length: number): Uint8Array;
  memzero(bytes: Uint8Array): void;
}

/** Implements `Sodium` on top of a library with the libsodium-wrappers API. The library must be ready. */
export function wrapLibsodium(library: Libsodium, backend: SodiumBackend): Sodium {
  return checkArguments({
    backend,
    generateKeyPair: () => bareKeyPair(library.crypto_box_keypair()),
    publicKeyOf(privateKey) {
      if (library.crypto_scalarmult_base === undefined) {
        throw new Error(
          'This libsodium cannot derive a public key: keep the one that generateKeyPair returned.',
        );
      }
      return library.crypto_scalarmult_base(privateKey);
    },
    seal: (plaintext, publicKey) => library.crypto_box_seal(plaintext, publicKey),
    openSealed: (sealed, { publicKey, privateKey }) =>
      undefinedOnFailure(() => library.crypto_box_seal_open(sealed, publicKey, privateKey)),
    sealSecretBox: (plaintext, nonce, key) => library.crypto_secretbox_easy(plaintext, nonce, key),
    openSecretBox: (sealed, nonce, key) =>
      undefinedOnFailure(() => library.crypto_secretbox_open_easy(sealed, nonce, key)),
    sealAead: (plaintext, additionalData, nonce, key) =>
      library.crypto_aead_xchacha20poly1305_ietf_encrypt(plaintext, additionalData, null, nonce, key),
    openAead: (sealed, additionalData, nonce, key) =>
      undefinedOnFailure(() =>
        library.crypto_aead_xchacha20poly1305_ietf_decrypt(null, sealed, additionalData, nonce, key),
      ),
    keyedHash: (message, key) => library.crypto_generichash(keyedHashBytes, message, key),
    generateSigningKeyPair: () => bareKeyPair(library.crypto_sign_keypair()),
    signDetached: (message, privateKey) => library.crypto_sign_detached(message, privateKey),
    verifyDetached: (signature, message, publicKey) =>
      library.crypto_sign_verify_detached(signature, message, publicKey),
    randomBytes: (length) => library.randombytes_buf(length),
    wipe: (bytes) => library.memzero(bytes),
  });
}

/** Removes the `keyType` field, which only these libraries add. */
function bareKeyPair({ publicKey, privateKey }: KeyPair): KeyPair {
  return { publicKey, privateKey };
}
