import { createCipheriv, createECDH, type ECDH, hkdfSync, randomBytes } from 'node:crypto';

/** Keys of a subscription, decoded. */
export interface SubscriptionKeys {
  /** 65 bytes, an uncompressed point of P-256. */
  readonly publicKey: Uint8Array;
  /** 16 bytes. */
  readonly authenticationSecret: Uint8Array;
}

/** Random input for one encryption. Only tests set it. */
export interface EncryptionRandomness {
  /** 16 bytes. */
  readonly salt: Uint8Array;
  /** An ephemeral key pair of P-256. */
  readonly sender: ECDH;
}

const curve = 'prime256v1';
const saltBytes = 16;
const keyBytes = 16;
const nonceBytes = 12;
const tagBytes = 16;
/** Record size. The whole content is one record, and RFC 8291 section 4 recommends this size. */
const recordBytes = 4096;
const headerBytes = saltBytes + 4 + 1 + 65;
/** Marks the last record (https://www.rfc-editor.org/rfc/rfc8188#section-2). */
const lastRecord = Buffer.from([2]);

/** Bytes that encryption adds to a plaintext. */
export const encryptionOverheadBytes = headerBytes + lastRecord.length + tagBytes;

/**
 * Encrypts content for a subscription: aes128gcm (RFC 8188), with keys derived as in RFC 8291.
 * @throws Error if the subscription's public key is not a point of P-256.
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
