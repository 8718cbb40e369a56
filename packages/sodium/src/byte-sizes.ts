/** Bytes of an X25519 public key. */
export const publicKeyBytes = 32;

/** Bytes of an X25519 private key. */
export const privateKeyBytes = 32;

/** Bytes by which a sealed box is longer than its plaintext: ephemeral public key and authenticator. */
export const sealedBoxOverheadBytes = 48;

/** Bytes of a secret box's key. */
export const secretBoxKeyBytes = 32;

/** Bytes of a secret box's nonce. */
export const secretBoxNonceBytes = 24;

/** Bytes by which a secret box is longer than its plaintext: the authenticator. */
export const secretBoxOverheadBytes = 16;

/** Bytes of the key of authenticated encryption with additional data. */
export const aeadKeyBytes = 32;

/** Bytes of the nonce of authenticated encryption with additional data. */
export const aeadNonceBytes = 24;

/** Bytes by which what was encrypted with additional data is longer than its plaintext: the authenticator. */
export const aeadOverheadBytes = 16;

/** Bytes of a keyed hash, and of its key. */
export const keyedHashBytes = 32;

/** Bytes of an Ed25519 public key. */
export const signingPublicKeyBytes = 32;

/** Bytes of an Ed25519 private key as libsodium keeps it: seed and public key. */
export const signingPrivateKeyBytes = 64;

/** Bytes of an Ed25519 signature. */
export const signatureBytes = 64;
