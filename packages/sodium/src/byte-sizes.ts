/** Size of an X25519 public key, in bytes. */
export const publicKeyBytes = 32;

/** Size of an X25519 private key, in bytes. */
export const privateKeyBytes = 32;

/** Overhead of a sealed box over its plaintext, in bytes: ephemeral public key and authenticator. */
export const sealedBoxOverheadBytes = 48;

/** Size of a secret box's key, in bytes. */
export const secretBoxKeyBytes = 32;

/** Size of a secret box's nonce, in bytes. */
export const secretBoxNonceBytes = 24;

/** Overhead of a secret box over its plaintext, in bytes: the authenticator. */
export const secretBoxOverheadBytes = 16;

/** Size of an AEAD key, in bytes. */
export const aeadKeyBytes = 32;

/** Size of an AEAD nonce, in bytes. */
export const aeadNonceBytes = 24;

/** Overhead of AEAD ciphertext over its plaintext, in bytes: the authenticator. */
export const aeadOverheadBytes = 16;

/** Size of a keyed hash and of its key, in bytes. */
export const keyedHashBytes = 32;

/** Size of an Ed25519 public key, in bytes. */
export const signingPublicKeyBytes = 32;

/** Size of an Ed25519 private key in libsodium's format (seed and public key), in bytes. */
export const signingPrivateKeyBytes = 64;

/** Size of an Ed25519 signature, in bytes. */
export const signatureBytes = 64;
