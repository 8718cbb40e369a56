import type { RealmId } from '../../servers/server-tables.js';
import type { Addressee } from './addressee.js';
/**
 * Encrypts tokens at rest with keys that are not in the database. Each token is bound to its row and found by a keyed
 * hash. A stolen database alone reveals no token, and a token that is copied into another row does not decrypt there.
 */
export interface TokenVault {
  /**
   * Returns the keyed hashes by which a token's rows are found. Deterministic; reveals nothing without the key. New
   * rows use the first hash. While keys are being rotated, older rows may have one of the other hashes.
   */
  lookups(token: string): readonly [string, ...string[]];
  /** Encrypts a token for one row. The result differs each time. */
  seal(token: string, binding: string): string;
  /** Decrypts a token, or returns why it cannot be read in this row. */
  open(sealed: string, binding: string): string | UnreadableToken;
}

/** Reason why a stored token cannot be read. The token may become readable when the right key ring is restored. */
export interface UnreadableToken {
  /**
   * UNKNOWN_TOKEN_KEY: the key ring lacks the token's key. UNREADABLE_TOKEN: the token was modified, or belongs to
   * another row. UNKNOWN_TOKEN_KIND: only a later version of the relay knows the token's vendor.
   */
  readonly reason: 'UNKNOWN_TOKEN_KEY' | 'UNREADABLE_TOKEN' | 'UNKNOWN_TOKEN_KIND';
  /** Id of the missing key, 8 hexadecimal digits. */
  readonly keyId?: string;
}

/** The columns that a token is bound to: they identify its row. */
export interface TokenRow {
  readonly realm_id: RealmId;
  readonly push_account_id: Addressee | null;
  readonly token_lookup: string;
}

/** Returns the string that a device's token is bound to, for {@link TokenVault.seal} and {@link TokenVault.open}. */
export function bindingOfToken({ realm_id, push_account_id, token_lookup }: TokenRow): string {
  return `device ${realm_id} ${push_account_id ?? ''} ${token_lookup}`;
}
