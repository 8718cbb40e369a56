import type { RealmId } from '../../servers/server-tables.js';
import type { Addressee } from './addressee.js';
/**
 * Encrypts tokens at rest. Each token is bound to its row and found by a keyed hash. A stolen database alone reveals no
 * token, and a token that is copied into another row does not work there. The keys are not in the database.
 */
export interface TokenVault {
  /**
   * Returns the keyed hashes that find a token's rows. Deterministic; reveals nothing without the key. New rows use the
   * first hash. While keys are being rotated, older rows may have one of the others.
   */
  lookups(token: string): readonly [string, ...string[]];
  /** Encrypts a token for one row. The result differs each time. */
  seal(token: string, binding: string): string;
  /** Decrypts a token, or returns why it cannot be read in this row. */
  open(sealed: string, binding: string): string | UnreadableToken;
}

/** Why a stored token cannot be read. It may become readable when the right key ring is restored. */
export interface UnreadableToken {
  /**
   * UNKNOWN_TOKEN_KEY: the key ring lacks the key that sealed it. UNREADABLE_TOKEN: it was changed, or belongs to
   * another row. UNKNOWN_TOKEN_KIND: its vendor is known only to a later version of the relay.
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

/** Returns the text that a device's token is bound to, for {@link TokenVault.seal} and {@link TokenVault.open}. */
export function bindingOfToken({ realm_id, push_account_id, token_lookup }: TokenRow): string {
  return `device ${realm_id} ${push_account_id ?? ''} ${token_lookup}`;
}
