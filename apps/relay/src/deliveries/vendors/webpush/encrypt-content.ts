import { createCipheriv, createECDH, type ECDH, hkdfSync, randomBytes } from 'node:crypto';

/** Decoded keys of a subscription. */
export interface SubscriptionKeys {
  /** Uncompressed point on P-256; 65 bytes. */
  readonly publicKey: Uint8Array;
  /** 16 bytes. */
  readonly authenticationSecret: Uint8Array;
}

/** Random input of one encryption. Only tests provide it. */
export interface EncryptionRandomness {
  /** 16 bytes. */
  readonly salt: Uint8Array;
  /** Ephemeral key pair on P-256. */
  readonly sender: ECDH;
}

const curve = 'prime256v1';
const saltBytes = 16;
const keyBytes = 16;
const nonceBytes = 12;
const tagBytes = 16;
/** Record size, as RFC 8291 section 4 recommends. The whole content is one record. */
const recordBytes = 4096;
const headerBytes = saltBytes + 4 + 1 + 65;
/** Delimiter of the last record (https://www.rfc-editor.org/rfc/rfc8188#section-2). */
const lastRecord = Buffer.from([2]);

/** Number of bytes that encryption adds to a plaintext. */
export const encryptionOverheadBytes = headerBytes + lastRecord.length + tagBytes;

/**
 * Encrypts content for a subscription with aes128gcm (RFC 8188) and keys derived as in RFC 8291.
 * @throws Error if the subscription's public key is not a point on P-256.
 */
export function encryptContent(
  plaintext: Uint8Array,
  { publicKey, authenticationSecret }: SubscriptionKeys,
  { salt, sender }: EncryptionRandomness = newRandomness(),
): Buffer {
  const senderPublicKey = sender.getPublicKey();
  const shared = sender.computeSecret(publicKey);
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), publicKey, senderPublicKey]);
  const input = derive(shared, authenticationSecret, info, 32);
  const key = derive(input, salt, Buffer.from('Content-Encoding: aes128gcm\0'), keyBytes);
  const nonce = derive(input, salt, Buffer.from('Content-Encoding: nonce\0'), nonceBytes);
  const cipher = createCipheriv('aes-128-gcm', key, nonce);
  const header = Buffer.alloc(saltBytes + 5);
  header.set(salt);
  header.writeUInt32BE(recordBytes, saltBytes);
  header[saltBytes + 4] = senderPublicKey.length;
  const parts = [cipher.update(plaintext), cipher.update(lastRecord), cipher.final(), cipher.getAuthTag()];
  return Buffer.concat([header, senderPublicKey, ...parts]);
}

function newRandomness(): EncryptionRandomness {
  const sender = createECDH(curve);
  sender.generateKeys();
  return { salt: randomBytes(saltBytes), sender };
}

function derive(key: Uint8Array, salt: Uint8Array, info: Uint8Array, bytes: number): Buffer {
  return Buffer.from(hkdfSync('sha256', key, salt, info, bytes));
}
