import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import type { TokenVault } from '#relay/registrations/store/token-vault.js';

const nonceBytes = 12;
const tagBytes = 16;

/** A {@link TokenVault} on Node's AES-256-GCM and HMAC-SHA-256, with keys that exist only during the test. */
export function createNodeTokenVault(): TokenVault {
  const lookupKey = randomBytes(32);
  const dataKey = randomBytes(32);
  return {
    lookups: (token) => [createHmac('sha256', lookupKey).update(token, 'utf8').digest('base64')],
    seal(token, place) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv('aes-256-gcm', dataKey, nonce);
      cipher.setAAD(Buffer.from(place));
      const sealed = [nonce, cipher.update(token, 'utf8'), cipher.final(), cipher.getAuthTag()];
      return Buffer.concat(sealed).toString('base64');
    },
    open(sealed, place) {
      const bytes = Buffer.from(sealed, 'base64');
      try {
        const decipher = createDecipheriv('aes-256-gcm', dataKey, bytes.subarray(0, nonceBytes));
        decipher.setAAD(Buffer.from(place));
        decipher.setAuthTag(bytes.subarray(-tagBytes));
        const ciphertext = bytes.subarray(nonceBytes, -tagBytes);
        return decipher.update(ciphertext, undefined, 'utf8') + decipher.final('utf8');
      } catch {
        return { reason: 'UNREADABLE_TOKEN' };
      }
    },
  };
}
