import { createDecipheriv, createHmac } from 'node:crypto';
import type { TokenKey } from './key-ring.js';

const nonceBytes = 12;
const tagBytes = 16;

/** The token of form 1 or 2: nonce, AES-256-GCM ciphertext and tag. `undefined` for what does not open with that data. */
export function openAes(bytes: Buffer, key: TokenKey, additionalData: string): string | undefined {
  try {
    const options = { authTagLength: tagBytes };
    const nonce = bytes.subarray(0, nonceBytes);
    const decipher = createDecipheriv('aes-256-gcm', key.encryptionKey.reveal(), nonce, options);
    decipher.setAAD(Buffer.from(additionalData));
    decipher.setAuthTag(bytes.subarray(-tagBytes));
    const ciphertext = bytes.subarray(nonceBytes, -tagBytes);
    return Buffer.concat([decipher.update(ciphertext), decipher.final()]).toString('utf8');
  } catch {
    // Too short, or the tag does not match: all that is known of it is that it is not what was sealed here.
    return undefined;
  }
}

/** What a row of form 1 or 2 is found by. */
export function hashWithHmac(token: Buffer, { lookupKey }: TokenKey): string {
  return createHmac('sha256', lookupKey.reveal()).update(token).digest('base64');
}
