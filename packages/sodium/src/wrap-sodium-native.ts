import type sodiumNative from 'sodium-native';
import {
  aeadOverheadBytes,
  keyedHashBytes,
  privateKeyBytes,
  publicKeyBytes,
  sealedBoxOverheadBytes,
  secretBoxOverheadBytes,
  signatureBytes,
  signingPrivateKeyBytes,
  signingPublicKeyBytes,
} from './byte-sizes.js';
import { checkArguments } from './check-arguments.js';
import type { Sodium } from './sodium.js';
import { undefinedOnFailure } from './undefined-on-failure.js';

/** Implements `Sodium` on top of sodium-native. Results own their memory and are never slices of Node's buffer pool. */
export function wrapSodiumNative(library: typeof sodiumNative): Sodium {
  return checkArguments({
    backend: 'native',

    generateKeyPair() {
      const publicKey = new Uint8Array(publicKeyBytes);
      const privateKey = unmovedBytes(privateKeyBytes);
      library.crypto_box_keypair(publicKey, privateKey);
      return { publicKey, privateKey };
    },

    publicKeyOf(privateKey) {
      const publicKey = new Uint8Array(publicKeyBytes);
      library.crypto_scalarmult_base(publicKey, privateKey);
      return publicKey;
    },

    seal(plaintext, publicKey) {
      const sealed = new Uint8Array(plaintext.length + sealedBoxOverheadBytes);
      library.crypto_box_seal(sealed, plaintext, publicKey);
      return sealed;
    },

    openSealed(sealed, { publicKey, privateKey }) {
      const plaintext = new Uint8Array(sealed.length - sealedBoxOverheadBytes);
      return library.crypto_box_seal_open(plaintext, sealed, publicKey, privateKey) ? plaintext : undefined;
    },

    ...wrapSecretBoxes(library),

    ...wrapAead(library),

    keyedHash(message, key) {
      const hash = new Uint8Array(keyedHashBytes);
      library.crypto_generichash(hash, message, key);
      return hash;
    },

    ...wrapSignatures(library),

    randomBytes(length) {
      const bytes = unmovedBytes(length);
      library.randombytes_buf(bytes);
      return bytes;
    },

    wipe: (bytes) => library.sodium_memzero(bytes),
  });
}

function wrapSecretBoxes(library: typeof sodiumNative): Pick<Sodium, 'sealSecretBox' | 'openSecretBox'> {
  return {
    sealSecretBox(plaintext, nonce, key) {
      const sealed = new Uint8Array(plaintext.length + secretBoxOverheadBytes);
      library.crypto_secretbox_easy(sealed, plaintext, nonce, key);
      return sealed;
    },

    openSecretBox(sealed, nonce, key) {
      const plaintext = new Uint8Array(sealed.length - secretBoxOverheadBytes);
      return library.crypto_secretbox_open_easy(plaintext, sealed, nonce, key) ? plaintext : undefined;
    },
  };
}

function wrapAead(library: typeof sodiumNative): Pick<Sodium, 'sealAead' | 'openAead'> {
  return {
    sealAead(plaintext, additionalData, nonce, key) {
      const sealed = new Uint8Array(plaintext.length + aeadOverheadBytes);
      library.crypto_aead_xchacha20poly1305_ietf_encrypt(sealed, plaintext, additionalData, null, nonce, key);
      return sealed;
    },

    openAead(sealed, additionalData, nonce, key) {
      const plaintext = new Uint8Array(sealed.length - aeadOverheadBytes);
      return undefinedOnFailure(() => {
        library.crypto_aead_xchacha20poly1305_ietf_decrypt(
          plaintext,
          null,
          sealed,
          additionalData,
          nonce,
          key,
        );
        return plaintext;
      });
    },
  };
}

function wrapSignatures(
  library: typeof sodiumNative,
): Pick<Sodium, 'generateSigningKeyPair' | 'signDetached' | 'verifyDetached'> {
  return {
    generateSigningKeyPair() {
      const publicKey = new Uint8Array(signingPublicKeyBytes);
      const privateKey = unmovedBytes(signingPrivateKeyBytes);
      library.crypto_sign_keypair(publicKey, privateKey);
      return { publicKey, privateKey };
    },

    signDetached(message, privateKey) {
      const signature = new Uint8Array(signatureBytes);
      library.crypto_sign_detached(signature, message, privateKey);
      return signature;
    },

    verifyDetached: (signature, message, publicKey) =>
      library.crypto_sign_verify_detached(signature, message, publicKey),
  };
}

/**
 * Allocates memory for a key outside V8's heap. V8 stores short arrays inline in its heap, and moving them would leave
 * copies behind.
 */
function unmovedBytes(length: number): Uint8Array {
  return new Uint8Array(new ArrayBuffer(length));
}
