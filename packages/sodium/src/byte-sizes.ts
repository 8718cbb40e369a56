/** Bytes of an X25519 public key. */
export const publicKeyBytes = 32;

/** Bytes of an X25519 private key. */
export const privateKeyBytes = 32;

/** Overhead of a sealed box over its plaintext, in bytes: ephemeral public key and authenticator. */
export const sealedBoxOverheadBytes = 48;

/** Bytes of a secret box's key. */
export const secretBoxKeyBytes = 32;

/** Bytes of a secret box's nonce. */
export const secretBoxNonceBytes = 24;

/** Overhead of a secret box over its plaintext, in bytes: the authenticator. */
export const secretBoxOverheadBytes = 16;

/** Bytes of an AEAD key. */
export const aeadKeyBytes = 32;

/** Bytes of an AEAD nonce. */
export const aeadNonceBytes = 24;

/** Overhead of AEAD ciphertext over its plaintext, in bytes: the authenticator. */
export const aeadOverheadBytes = 16;

/** Bytes of a keyed hash, and of its key. */
export const keyedHashBytes = 32;

/** Bytes of an Ed25519 public key. */
export const signingPublicKeyBytes = 32;

/** Bytes of an Ed25519 private key in libsodium's format: seed and public key. */
export const signingPrivateKeyBytes = 64;

/** Bytes of an Ed25519 signature. */
export const signatureBytes = 64;
