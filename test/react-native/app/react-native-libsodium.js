// Replaces the native module, which is machine code for phones, with the same functions from the tests' oracle. Loads
// the oracle lazily, because importing the oracle needs more of the platform than importing the client.
const oracle = () => require('../../noble-oracle');
const curves = () => require('@noble/curves/ed25519.js');

let drawn = 0;

// Returns different bytes for each call. They are not random, which is sufficient for a test without secrets.
function randombytes_buf(length) {
  drawn += 1;
  return Uint8Array.from({ length }, (_, index) => (drawn * 31 + index * 7) % 256);
}

function opened(plaintext) {
  if (plaintext === undefined) throw new Error('incorrect key pair for the given ciphertext');
  return plaintext;
}

export default {
  ready: Promise.resolve(),
  randombytes_buf,
  crypto_box_keypair() {
    const privateKey = randombytes_buf(32);
    return { publicKey: curves().x25519.getPublicKey(privateKey), privateKey };
  },
  crypto_box_seal: (message, publicKey) => oracle().seal(message, publicKey, randombytes_buf(32)),
  crypto_box_seal_open: (sealed, publicKey, privateKey) =>
    opened(oracle().openSealed(sealed, publicKey, privateKey)),
  crypto_secretbox_easy: (message, nonce, key) => oracle().sealSecretBox(message, nonce, key),
  crypto_secretbox_open_easy: (sealed, nonce, key) => opened(oracle().openSecretBox(sealed, nonce, key)),
  crypto_sign_keypair() {
    const seed = randombytes_buf(32);
    const publicKey = curves().ed25519.getPublicKey(seed);
    return { publicKey, privateKey: Uint8Array.from([...seed, ...publicKey]) };
  },
  crypto_sign_detached: (message, privateKey) => oracle().signDetached(message, privateKey),
  crypto_sign_verify_detached: (signature, message, publicKey) =>
    oracle().verifyDetached(signature, message, publicKey),
  memzero: (bytes) => bytes.fill(0),
};
