import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto';
import type { Clock } from '@waxwing/service';
import type { KeyRing, TokenKey } from './key-ring.js';
import { createNonceSource } from './nonce-source.js';

const nonceBytes = 12;
const tagBytes = 16;

// No relay takes longer between sealing a token and committing its row.
const settlingMilliseconds = 60_000;

/**
 * Encrypts push tokens for the database with AES-256-GCM and finds them again by HMAC-SHA-256 under another key. While
 * token keys are being replaced, several are in force: new rows get the current one, rows of older ones still open.
 */
export class KeyRingTokenVault {
  readonly #ring: () => KeyRing;
  readonly #clock: Clock;
  readonly #nextNonce = createNonceSource(nonceBytes);

  constructor(ring: () => KeyRing, clock: Clock) {
    this.#ring = ring;
    this.#clock = clock;
  }

  /** Everything that a row with this token may be found by: the HMAC under the current key first, then the others. */
  lookups(token: string): readonly [string, ...string[]] {
    const current = this.#current();
    const others = this.#ring().tokenKeys.filter((key) => key !== current);
    return [hashToken(token, current), ...others.map((key) => hashToken(token, key))];
  }

  /** The token encrypted under the current key: key id, a colon, and base64 of nonce, ciphertext and tag. */
  seal(token: string): string {
    const key = this.#current();
    const nonce = this.#nextNonce();
    const cipher = createCipheriv('aes-256-gcm', key.encryptionKey.reveal(), nonce);
    cipher.setAAD(Buffer.from(key.id));
    const sealed = Buffer.concat([nonce, cipher.update(token, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return `${key.id}:${sealed.toString('base64')}`;
  }

  /** The token again. @throws Error when its key is not in the ring, or the text was changed. */
  open(sealed: string): string {
    const key = this.#ring().tokenKeys.find(({ id }) => id === sealed.slice(0, 8));
    if (key === undefined) throw new Error('a token was sealed with a key that the key ring does not have');
    const bytes = Buffer.from(sealed.slice(9), 'base64');
    const decipher = createDecipheriv(
      'aes-256-gcm',
      key.encryptionKey.reveal(),
      bytes.subarray(0, nonceBytes),
      {
        authTagLength: tagBytes,
      },
    );
    decipher.setAAD(Buffer.from(key.id));
    decipher.setAuthTag(bytes.subarray(-tagBytes));
    const ciphertext = bytes.subarray(nonceBytes, -tagBytes);
    return Buffer.concat([decipher.update(ciphertext), decipher.final()]).toString('utf8');
  }

  /** The current key, with which rows of older keys should be written anew; `undefined` when there are no others. */
  keyToMoveTo(): { id: string; prefix: string; isSettled: boolean } | undefined {
    if (this.#ring().tokenKeys.length === 1) return undefined;
    const { id, currentFrom } = this.#current();
    return { id, prefix: `${id}:`, isSettled: currentFrom + settlingMilliseconds <= this.#clock() };
  }

  #current(): TokenKey {
    const now = this.#clock();
    const { tokenKeys } = this.#ring();
    const current = tokenKeys.findLast(({ currentFrom }) => currentFrom <= now) ?? tokenKeys[0];
    if (current === undefined) throw new Error('a key ring without a token key was let through');
    return current;
  }
}

function hashToken(token: string, key: TokenKey): string {
  return createHmac('sha256', key.lookupKey.reveal()).update(token, 'utf8').digest('base64');
}
