import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto';
import type { Clock } from '@waxwing/service/lifecycle';
import type { UnreadableToken } from '../registrations/token-vault.js';
import type { KeyRing, TokenKey } from './key-ring.js';
import { createNonceSource } from './nonce-source.js';

const nonceBytes = 12;
const tagBytes = 16;

// Stands after the key's id. What lacks it was sealed before tokens were bound to their rows, by the key's id alone.
const boundForm = '2:';
const keyPrefix = /^([0-9a-f]{8}):/;

// No relay takes longer between sealing a token and committing its row.
const settlingMilliseconds = 60_000;

/**
 * Encrypts push tokens for the database with AES-256-GCM, bound to their place by its additional data, and finds them
 * again by HMAC-SHA-256 under another key. While token keys are being replaced, several are in force: new rows get the
 * current one, rows of older ones still open. What was sealed before tokens were bound opens under a key of which the
 * ring does not say yet that all of its tokens are.
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

  /** The token encrypted under the current key: key id, a colon, `2:`, and base64 of nonce, ciphertext and tag. */
  seal(token: string, place: string): string {
    const key = this.#current();
    const nonce = this.#nextNonce();
    const cipher = createCipheriv('aes-256-gcm', key.encryptionKey.reveal(), nonce);
    cipher.setAAD(boundData(key, place));
    const sealed = Buffer.concat([nonce, cipher.update(token, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return `${prefixOf(key)}${sealed.toString('base64')}`;
  }

  /** The token again, or why it cannot be read: its key is not in the ring, it was changed, or it stands elsewhere. */
  open(sealed: string, place: string): string | UnreadableToken {
    const keyId = keyPrefix.exec(sealed)?.[1];
    if (keyId === undefined) return unreadable;
    const key = this.#ring().tokenKeys.find(({ id }) => id === keyId);
    if (key === undefined) return { reason: 'UNKNOWN_TOKEN_KEY', keyId };
    const prefix = prefixOf(key);
    if (sealed.startsWith(prefix)) return decrypt(sealed.slice(prefix.length), key, boundData(key, place));
    if (key.isBound) return unreadable;
    return decrypt(sealed.slice(keyId.length + 1), key, Buffer.from(key.id));
  }

  /**
   * The current key, with which rows of older keys, and of its own that are not bound yet, should be encrypted again;
   * `undefined` when there can be none.
   */
  keyToMoveTo(): { id: string; prefix: string; isSettled: boolean } | undefined {
    const current = this.#current();
    if (this.#ring().tokenKeys.length === 1 && current.isBound) return undefined;
    const isSettled = current.currentFrom + settlingMilliseconds <= this.#clock();
    return { id: current.id, prefix: prefixOf(current), isSettled };
  }

  #current(): TokenKey {
    const now = this.#clock();
    const { tokenKeys } = this.#ring();
    const current = tokenKeys.findLast(({ currentFrom }) => currentFrom <= now) ?? tokenKeys[0];
    if (current === undefined) throw new Error('a key ring without a token key was let through');
    return current;
  }
}

const unreadable: UnreadableToken = { reason: 'UNREADABLE_TOKEN' };

function decrypt(base64: string, key: TokenKey, additionalData: Buffer): string | UnreadableToken {
  const bytes = Buffer.from(base64, 'base64');
  const nonce = bytes.subarray(0, nonceBytes);
  try {
    const options = { authTagLength: tagBytes };
    const decipher = createDecipheriv('aes-256-gcm', key.encryptionKey.reveal(), nonce, options);
    decipher.setAAD(additionalData);
    decipher.setAuthTag(bytes.subarray(-tagBytes));
    const ciphertext = bytes.subarray(nonceBytes, -tagBytes);
    return Buffer.concat([decipher.update(ciphertext), decipher.final()]).toString('utf8');
  } catch {
    // Too short, or the tag does not match: all that is known of it is that it is not what was sealed here.
    return unreadable;
  }
}

function prefixOf({ id }: TokenKey): string {
  return `${id}:${boundForm}`;
}

function boundData(key: TokenKey, place: string): Buffer {
  return Buffer.from(`${prefixOf(key)}${place}`);
}

function hashToken(token: string, key: TokenKey): string {
  return createHmac('sha256', key.lookupKey.reveal()).update(token, 'utf8').digest('base64');
}
