// The package has no types. Its functions write results into their first arguments. Functions that open or verify
// return a boolean, except where noted; the others throw.
declare module 'sodium-native' {
  const sodiumNative: {
    crypto_box_keypair(publicKey: Uint8Array, privateKey: Uint8Array): void;
    crypto_scalarmult_base(publicKey: Uint8Array, privateKey: Uint8Array): void;
    crypto_box_seal(sealed: Uint8Array, message: Uint8Array, publicKey: Uint8Array): void;
    crypto_box_seal_open(
      message: Uint8Array,
      sealed: Uint8Array,
      publicKey: Uint8Array,
      privateKey: Uint8Array,
    ): boolean;
    crypto_secretbox_easy(sealed: Uint8Array, message: Uint8Array, nonce: Uint8Array, key: Uint8Array): void;
    crypto_secretbox_open_easy(
      message: Uint8Array,
      sealed: Uint8Array,
      nonce: Uint8Array,
      key: Uint8Array,
    ): boolean;
    crypto_aead_xchacha20poly1305_ietf_encrypt(
      sealed: Uint8Array,
      message: Uint8Array,
      additionalData: Uint8Array,
      unused: null,
      nonce: Uint8Array,
      key: Uint8Array,
    ): number;
    /** Throws if decryption fails. */
    crypto_aead_xchacha20poly1305_ietf_decrypt(
      message: Uint8Array,
      unused: null,
      sealed: Uint8Array,
      additionalData: Uint8Array,
      nonce: Uint8Array,
      key: Uint8Array,
    ): number;
    crypto_generichash(hash: Uint8Array, message: Uint8Array, key: Uint8Array): void;
    crypto_sign_keypair(publicKey: Uint8Array, privateKey: Uint8Array): void;
    crypto_sign_detached(signature: Uint8Array, message: Uint8Array, privateKey: Uint8Array): void;
    crypto_sign_verify_detached(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean;
    randombytes_buf(bytes: Uint8Array): void;
    sodium_memzero(bytes: Uint8Array): void;
  };
  export default sodiumNative;
}
