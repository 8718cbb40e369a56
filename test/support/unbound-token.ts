import { createCipheriv, randomBytes } from 'node:crypto';
import type { TokenKey } from '#relay/keyring/key-ring.js';

/** A token as relays stored it before tokens were bound to their rows. */
export function sealUnbound(token: string, { id, encryptionKey }: TokenKey): string {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', encryptionKey.reveal(), nonce);
  cipher.setAAD(Buffer.from(id));
  const sealed = Buffer.concat([nonce, cipher.update(token, 'utf8'), cipher.final(), cipher.getAuthTag()]);
  return `${id}:${sealed.toString('base64')}`;
}
