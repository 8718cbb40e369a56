import {
  aeadKeyBytes,
  aeadNonceBytes,
  aeadOverheadBytes,
  keyedHashBytes,
  privateKeyBytes,
  publicKeyBytes,
  sealedBoxOverheadBytes,
  secretBoxKeyBytes,
  secretBoxNonceBytes,
  secretBoxOverheadBytes,
  signatureBytes,
  signingPrivateKeyBytes,
  signingPublicKeyBytes,
} from './byte-sizes.js';
import { isUsablePublicKey } from './low-order-points.js';
import { requireBytes } from './require-bytes.js';
import type { Sodium } from './sodium.js';

/** A backend without argument checks. It may assume that lengths are valid and public keys are usable. */
export type BareSodium = Omit<Sodium, 'isUsablePublicKey'>;

/**
 * Adds argument checks to a backend. The resulting functions throw on invalid arguments. Ciphertext that is too short
 * is never passed to the backend.
 */
export function checkArguments(bare: BareSodium): Sodium {
  return {
    ...bare,
    isUsablePublicKey,

    publicKeyOf(privateKey) {
      requireBytes('privateKey', privateKey, privateKeyBytes);
      return bare.publicKeyOf(privateKey);
    },

    seal(plaintext, publicKey) {
      requireUsablePublicKey(publicKey);
      return bare.seal(plaintext, publicKey);
    },

    openSealed(sealed, keyPair) {
      requireBytes('keyPair.publicKey', keyPair.publicKey, publicKeyBytes);
      requireBytes('keyPair.privateKey', keyPair.privateKey, privateKeyBytes);
      return sealed.length < sealedBoxOverheadBytes ? undefined : bare.openSealed(sealed, keyPair);
    },

    ...checkSecretBoxes(bare),

    ...checkAead(bare),

    keyedHash(message, key) {
      requireBytes('key', key, keyedHashBytes);
      return bare.keyedHash(message, key);
    },

    signDetached(message, privateKey) {
      requireBytes('privateKey', privateKey, signingPrivateKeyBytes);
      return bare.signDetached(message, privateKey);
    },

    verifyDetached(signature, message, publicKey) {
      if (signature.length !== signatureBytes || publicKey.length !== signingPublicKeyBytes) return false;
      return bare.verifyDetached(signature, message, publicKey);
    },

    randomBytes(length) {
      if (!Number.isSafeInteger(length) || length < 0) {
        throw new RangeError(`length must be a whole number of bytes from 0, but is ${length}.`);
      }
      return bare.randomBytes(length);
    },
  };
}

function checkSecretBoxes(bare: BareSodium): Pick<Sodium, 'sealSecretBox' | 'openSecretBox'> {
  return {
    sealSecretBox(plaintext, nonce, key) {
      requireBytes('nonce', nonce, secretBoxNonceBytes);
      requireBytes('key', key, secretBoxKeyBytes);
      return bare.sealSecretBox(plaintext, nonce, key);
    },

    openSecretBox(sealed, nonce, key) {
      requireBytes('nonce', nonce, secretBoxNonceBytes);
      requireBytes('key', key, secretBoxKeyBytes);
      return sealed.length < secretBoxOverheadBytes ? undefined : bare.openSecretBox(sealed, nonce, key);
    },
  };
}

function checkAead(bare: BareSodium): Pick<Sodium, 'sealAead' | 'openAead'> {
  return {
    sealAead(plaintext, additionalData, nonce, key) {
      requireBytes('nonce', nonce, aeadNonceBytes);
      requireBytes('key', key, aeadKeyBytes);
      return bare.sealAead(plaintext, additionalData, nonce, key);
    },

    openAead(sealed, additionalData, nonce, key) {
      requireBytes('nonce', nonce, aeadNonceBytes);
      requireBytes('key', key, aeadKeyBytes);
      return sealed.length < aeadOverheadBytes
        ? undefined
        : bare.openAead(sealed, additionalData, nonce, key);
    },
  };
}

function requireUsablePublicKey(publicKey: Uint8Array): void {
  requireBytes('publicKey', publicKey, publicKeyBytes);
  if (!isUsablePublicKey(publicKey)) {
    throw new RangeError('publicKey must not be a low-order point: anyone could open what is sealed to it.');
  }
}
