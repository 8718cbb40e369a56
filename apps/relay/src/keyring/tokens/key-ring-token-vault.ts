import type { Clock } from '@waxwing/service/lifecycle';
import type { Sodium } from '@waxwing/sodium';
import { aeadNonceBytes } from '@waxwing/sodium/byte-sizes';
import type { UnreadableToken } from '../../registrations/store/token-vault.js';
import { type KeyRing, type TokenKey, tokenFormat } from '../ring/key-ring.js';
import { createNonceSource } from './nonce-source.js';

/** The part of libsodium that token encryption needs. */
export type TokenSodium = Pick<Sodium, 'sealAead' | 'openAead' | 'keyedHash'>;

const prefix = new RegExp(`^([0-9a-f]{8}):${tokenFormat}:`);

// Upper bound of the time between sealing a token and committing its row.
const settlingMilliseconds = 60_000;

/**
 * Encrypts push tokens for the database with XChaCha20-Poly1305. Additional data binds each token to its row. A keyed
 * BLAKE2b hash under a separate key makes tokens searchable. During a token key rotation several keys are active: new
 * rows use the current key, and older keys still decrypt their rows.
 */
export class KeyRingTokenVault {
  readonly #ring: () => KeyRing;
  readonly #clock: Clock;
  readonly #sodium: TokenSodium;
  readonly #nextNonce = createNonceSource(aeadNonceBytes);

  constructor(ring: () => KeyRing, clock: Clock, sodium: TokenSodium) {
    this.#ring = ring;
    this.#clock = clock;
    this.#sodium = sodium;
  }

  /** Returns the lookup hashes of a token under all keys, the current key's hash first. */
  lookups(token: string): readonly [string, ...string[]] {
    const current = this.#current();
    const { tokenKeys } = this.#ring();
    const bytes = Buffer.from(token, 'utf8');
    const lookup = this.#hash(bytes, current);
    if (tokenKeys.length === 1) return [lookup];
    const others = tokenKeys.filter((key) => key !== current);
    return [lookup, ...others.map((key) => this.#hash(bytes, key))];
  }

  /** Encrypts a token under the current key: key id, `:3:`, and base64 of nonce, ciphertext and authenticator. */
  seal(token: string, binding: string): string {
    const key = this.#current();
    const nonce = this.#nextNonce();
    const bytes = Buffer.from(token, 'utf8');
    const sealed = this.#sodium.sealAead(bytes, boundData(key, binding), nonce, key.encryptionKey.reveal());
    // 24 nonce bytes encode to base64 without padding, so the two parts can be encoded separately.
    return `${prefixOf(key)}${nonce.toString('base64')}${Buffer.from(sealed.buffer).toString('base64')}`;
  }

  /**
   * Decrypts a token, or returns why it is unreadable: its key is not in the ring, the text was modified, or the token
   * belongs to another row.
   */
  open(sealed: string, binding: string): string | UnreadableToken {
    const [start = '', keyId] = prefix.exec(sealed) ?? [];
    if (keyId === undefined) return unreadable;
    const key = this.#ring().tokenKeys.find(({ id }) => id === keyId);
    if (key === undefined) return { reason: 'UNKNOWN_TOKEN_KEY', keyId };
    return this.#open(Buffer.from(sealed.slice(start.length), 'base64'), key, binding) ?? unreadable;
  }

  /**
   * Returns the current key, which replaces older keys in stored rows. Returns `undefined` if the ring has only one
   * token key.
   */
  keyToMoveTo(): { id: string; prefix: string; isSettled: boolean } | undefined {
    if (this.#ring().tokenKeys.length === 1) return undefined;
    const current = this.#current();
    const isSettled = current.currentFrom + settlingMilliseconds <= this.#clock();
    return { id: current.id, prefix: prefixOf(current), isSettled };
  }

  #open(bytes: Buffer, key: TokenKey, binding: string): string | undefined {
    if (bytes.length < aeadNonceBytes) return undefined;
    const [nonce, sealed] = [bytes.subarray(0, aeadNonceBytes), bytes.subarray(aeadNonceBytes)];
    const token = this.#sodium.openAead(sealed, boundData(key, binding), nonce, key.encryptionKey.reveal());
    return token && Buffer.from(token.buffer).toString('utf8');
  }

  #hash(token: Buffer, { lookupKey }: TokenKey): string {
    return Buffer.from(this.#sodium.keyedHash(token, lookupKey.reveal()).buffer).toString('base64');
  }

  #current(): TokenKey {
    const { tokenKeys } = this.#ring();
    const [only] = tokenKeys;
    if (only === undefined) throw new Error('a key ring without a token key passed validation');
    if (tokenKeys.length === 1) return only;
    const now = this.#clock();
    return tokenKeys.findLast(({ currentFrom }) => currentFrom <= now) ?? only;
  }
}

const unreadable: UnreadableToken = { reason: 'UNREADABLE_TOKEN' };

function prefixOf({ id }: TokenKey): string {
  return `${id}:${tokenFormat}:`;
}

function boundData(key: TokenKey, binding: string): Buffer {
  return Buffer.from(`${prefixOf(key)}${binding}`);
}
