/** X25519 key pair; each key is 32 bytes long. */
export interface KeyPair {
  readonly publicKey: Uint8Array;
  readonly privateKey: Uint8Array;
}

/**
 * Ed25519 key pair: a public key of 32 bytes and a private key of 64 bytes (seed and public key, libsodium's format).
 */
export interface SigningKeyPair {
  readonly publicKey: Uint8Array;
  readonly privateKey: Uint8Array;
}

/**
 * `wasm`: libsodium compiled to WebAssembly, which runs everywhere. `native`: libsodium in machine code, about three
 * times as fast.
 */
export type SodiumBackend = 'wasm' | 'native';

/**
 * The part of libsodium that encrypted push needs. All backends behave identically.
 *
 * A key or nonce of the wrong size, or an invalid length, is the caller's mistake and throws a `RangeError` that names
 * the argument. Invalid data from a peer (ciphertext, a signature, or the public key that verifies it) never throws.
 * Results are new arrays that own their memory.
 */
export interface Sodium {
  readonly backend: SodiumBackend;

  /** Generates an X25519 key pair. */
  generateKeyPair(): KeyPair;

  /**
   * Returns the X25519 public key for a private key. Throws an `Error` on React Native, because react-native-libsodium
   * lacks scalar multiplication.
   */
  publicKeyOf(privateKey: Uint8Array): Uint8Array;

  /** Returns whether a peer's X25519 public key is 32 bytes long and not a low-order point (RFC 7748 section 6.1). */
  isUsablePublicKey(publicKey: Uint8Array): boolean;

  /**
   * Returns a sealed box for the owner of `publicKey`. It is `sealedBoxOverheadBytes` longer than the plaintext
   * (`crypto_box_seal`, https://doc.libsodium.org/public-key_cryptography/sealed_boxes). A low-order point throws a
   * `RangeError`, so if the key comes from a peer, call `isUsablePublicKey` first.
   */
  seal(plaintext: Uint8Array, publicKey: Uint8Array): Uint8Array;

  /** Returns the plaintext of a sealed box, or `undefined` if decryption fails for any reason. */
  openSealed(sealed: Uint8Array, keyPair: KeyPair): Uint8Array | undefined;

  /**
   * Returns a secret box. It is `secretBoxOverheadBytes` longer than the plaintext (`crypto_secretbox_easy`,
   * https://doc.libsodium.org/secret-key_cryptography/secretbox). Never reuse a nonce (24 bytes) with the same key (32
   * bytes).
   */
  sealSecretBox(plaintext: Uint8Array, nonce: Uint8Array, key: Uint8Array): Uint8Array;

  /** Returns the plaintext of a secret box, or `undefined` if decryption fails for any reason. */
  openSecretBox(sealed: Uint8Array, nonce: Uint8Array, key: Uint8Array): Uint8Array | undefined;

  /**
   * Returns AEAD ciphertext. It is `aeadOverheadBytes` longer than the plaintext. `additionalData` is authenticated but
   * not included in the result. Decryption requires the same data (`crypto_aead_xchacha20poly1305_ietf_encrypt`,
   * https://doc.libsodium.org/secret-key_cryptography/aead/chacha20-poly1305/xchacha20-poly1305_construction). Never
   * reuse a nonce (24 bytes) with the same key (32 bytes).
   */
  sealAead(plaintext: Uint8Array, additionalData: Uint8Array, nonce: Uint8Array, key: Uint8Array): Uint8Array;

  /** Decrypts a result of `sealAead`. Returns `undefined` if decryption fails for any reason. */
  openAead(
    sealed: Uint8Array,
    additionalData: Uint8Array,
    nonce: Uint8Array,
    key: Uint8Array,
  ): Uint8Array | undefined;

  /**
   * Returns the 32-byte BLAKE2b hash of `message` with a 32-byte key (`crypto_generichash`,
   * https://doc.libsodium.org/hashing/generic_hashing).
   */
  keyedHash(message: Uint8Array, key: Uint8Array): Uint8Array;

  /** Generates an Ed25519 key pair. */
  generateSigningKeyPair(): SigningKeyPair;

  /**
   * Returns the 64-byte Ed25519 signature of `message`
   * (https://doc.libsodium.org/public-key_cryptography/public-key_signatures).
   */
  signDetached(message: Uint8Array, privateKey: Uint8Array): Uint8Array;

  /**
   * Returns whether a signature is valid. Returns `false` for a signature or public key of the wrong length or form.
   */
  verifyDetached(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean;

  /** Returns `length` cryptographically secure random bytes. `length` is a whole number of at least 0. */
  randomBytes(length: number): Uint8Array;

  /** Overwrites `bytes` with zeros. */
  wipe(bytes: Uint8Array): void;
}

/** The part of {@link Sodium} that opens notifications. */
export type OpeningSodium = Pick<Sodium, 'openSealed' | 'openSecretBox'>;
