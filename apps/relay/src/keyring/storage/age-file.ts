import { createCipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { chacha20poly1305 } from '@noble/ciphers/chacha.js';
import { Decrypter, Encrypter, type Identity, type Recipient } from 'age-encryption';

/**
 * Encrypts and decrypts age files (https://age-encryption.org/v1) without leaving copies of the plaintext in memory:
 * the caller has the only copy and can wipe it. The age library's streams leave copies that cannot be wiped. The
 * library therefore handles only the header, and this module encrypts the payload ("Payload": STREAM with
 * ChaCha20-Poly1305 over chunks of 64 KiB).
 */

const algorithm = 'chacha20-poly1305';
const chunkBytes = 64 * 1024;
const tagBytes = 16;
const nonceBytes = 16;
const lastChunkFlag = 1;

/** Encrypts for a recipient: a string `age1…`, or a `Recipient` from this project. */
export async function encryptAgeFile(
  plaintext: Uint8Array,
  recipient: string | Recipient,
): Promise<Uint8Array> {
  const fileKey = new Uint8Array(16);
  const encrypter = new Encrypter();
  encrypter.addRecipient(recipient);
  // This recipient only captures the file key, and adds nothing to the header.
  encrypter.addRecipient({
    async wrapFileKey(key) {
      fileKey.set(key);
      return [];
    },
  });
  const empty = await encrypter.encrypt(new Uint8Array(0));
  const header = empty.subarray(0, empty.length - nonceBytes - tagBytes);
  const nonce = randomBytes(nonceBytes);
  const chunks = withPayloadKey(fileKey, nonce, (key) =>
    splitChunks(plaintext, chunkBytes).map((chunk, index, { length }) => {
      const options = { authTagLength: tagBytes };
      const cipher = createCipheriv(algorithm, key, chunkNonce(index, index === length - 1), options);
      return Buffer.concat([cipher.update(chunk), cipher.final(), cipher.getAuthTag()]);
    }),
  );
  return Buffer.concat([header, nonce, ...chunks]);
}

/**
 * Decrypts an age file. The caller wipes the plaintext.
 * @throws Error if no identity (a string `AGE-SECRET-KEY-1…`, or an `Identity` from this project) opens the file, or if
 * the file was modified.
 */
export async function decryptAgeFile(
  file: Uint8Array,
  identities: readonly (string | Identity)[],
): Promise<Uint8Array> {
  const headerEnd = endOfHeader(file);
  const decrypter = new Decrypter();
  for (const identity of identities) decrypter.addIdentity(identity);
  const fileKey = await decrypter.decryptHeader(file.subarray(0, headerEnd));
  const payload = file.subarray(headerEnd + nonceBytes);
  const chunks = splitChunks(payload, chunkBytes + tagBytes);
  if (chunks.length > 1 && chunks.at(-1)?.length === tagBytes) throw new Error('the last chunk is empty');
  const plaintext = new Uint8Array(Math.max(0, payload.length - chunks.length * tagBytes));
  const nonce = file.subarray(headerEnd, headerEnd + nonceBytes);
  try {
    withPayloadKey(fileKey, nonce, (key) => {
      for (const [index, chunk] of chunks.entries()) {
        const isLast = index === chunks.length - 1;
        openChunk(chunk, { key, nonce: chunkNonce(index, isLast) }, plaintext.subarray(index * chunkBytes));
      }
    });
  } catch (error) {
    plaintext.fill(0);
    throw error;
  }
  return plaintext;
}

function openChunk(
  chunk: Uint8Array,
  { key, nonce }: { readonly key: Uint8Array; readonly nonce: Uint8Array },
  target: Uint8Array,
): void {
  // Decrypts directly into the caller's buffer, because Node's decipher frees a copy of the plaintext without wiping
  // it.
  chacha20poly1305(key, nonce).decrypt(chunk, target.subarray(0, chunk.length - tagBytes));
}

function withPayloadKey<T>(fileKey: Uint8Array, nonce: Uint8Array, work: (key: Uint8Array) => T): T {
  const key = new Uint8Array(hkdfSync('sha256', fileKey, nonce, 'payload', 32));
  try {
    return work(key);
  } finally {
    key.fill(0);
    fileKey.fill(0);
  }
}

/** Splits bytes into chunks of `size` bytes. Returns one empty chunk for empty input. */
function splitChunks(bytes: Uint8Array, size: number): Uint8Array[] {
  const count = Math.max(1, Math.ceil(bytes.length / size));
  return Array.from({ length: count }, (_, index) => bytes.subarray(index * size, (index + 1) * size));
}

/** Returns the nonce of a chunk: an 11-byte counter, and one byte that marks the last chunk. */
function chunkNonce(index: number, isLast: boolean): Uint8Array {
  const nonce = Buffer.alloc(12);
  nonce.writeUInt32BE(index, 7);
  nonce[11] = isLast ? lastChunkFlag : 0;
  return nonce;
}

/** Returns the offset of the payload, after the line with the header's MAC. */
function endOfHeader(file: Uint8Array): number {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  const lastLine = bytes.indexOf('\n--- ');
  const end = lastLine < 0 ? -1 : bytes.indexOf('\n', lastLine + 1);
  if (end < 0) throw new Error('the header has no end');
  return end + 1;
}
