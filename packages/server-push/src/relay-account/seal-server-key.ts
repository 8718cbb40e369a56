import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { Secret } from '@waxwing/service/config';

/** The account that a stored key belongs to. */
export interface KeyOwner {
  readonly url: string;
  readonly serverId: string;
}

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

/**
 * Encrypts a server key for the database with AES-256-GCM. `secretKey` is 32 bytes. The account is authenticated as
 * additional data: if an attacker changes the account's URL in the database, decryption fails, so the key cannot be
 * sent to a different relay.
 */
export function sealServerKey(
  secretKey: Secret<Uint8Array>,
  owner: KeyOwner,
  serverKey: Secret<string>,
): string {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(algorithm, secretKey.reveal(), nonce).setAAD(describe(owner));
  const encrypted = Buffer.concat([cipher.update(serverKey.reveal(), 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), encrypted]).toString('base64');
}

/**
 * Decrypts a stored server key. Returns `undefined` if the secret key or the account is wrong, or if the ciphertext was
 * modified.
 */
export function openServerKey(
  secretKey: Secret<Uint8Array>,
  owner: KeyOwner,
  sealed: string,
): Secret<string> | undefined {
  const bytes = Buffer.from(sealed, 'base64');
  if (bytes.length <= nonceBytes + tagBytes) return undefined;
  const options = { authTagLength: tagBytes };
  const decipher = createDecipheriv(algorithm, secretKey.reveal(), bytes.subarray(0, nonceBytes), options)
    .setAAD(describe(owner))
    .setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
  const text = decipher.update(bytes.subarray(nonceBytes + tagBytes)).toString('utf8');
  try {
    decipher.final();
  } catch {
    // OpenSSL throws here only if the tag is wrong.
    return undefined;
  }
  return new Secret(text);
}

function describe({ url, serverId }: KeyOwner): Buffer {
  return Buffer.from(`waxwing relay account v1\n${url}\n${serverId}`, 'utf8');
}
