import type { PushAccountIdText } from '@waxwing/protocol';
import type { RealmId } from '../../servers/server-tables.js';
/**
 * How tokens rest in the database: encrypted, bound to the row that they stand in, and found again by a keyed hash, so
 * that a stolen database alone reveals no token, and one that somebody wrote into delivers to no other device. The keys
 * are not in the database.
 */
export interface TokenVault {
  /**
   * What a row with this token is found by: the same text for the same token, which tells nobody the token without the
   * key (a keyed hash). New rows get the first; the others, while keys are being replaced, are what older rows may have.
   */
  lookups(token: string): readonly [string, ...string[]];
  /** The token encrypted for one place; a different text each time. */
  seal(token: string, place: string): string;
  /** The token again, or why it cannot be read there. */
  open(sealed: string, place: string): string | UnreadableToken;
}

/** Why a stored token cannot be read. It may be readable again once the right key ring is back. */
export interface UnreadableToken {
  /**
   * UNKNOWN_TOKEN_KEY: it was sealed with a key that the key ring does not have. UNREADABLE_TOKEN: it was changed, or
   * belongs to another place.
   */
  readonly reason: 'UNKNOWN_TOKEN_KEY' | 'UNREADABLE_TOKEN';
  /** The key that is missing, 8 hexadecimal digits. */
  readonly keyId?: string;
}

/** What of a row its token is bound to: what tells it from all others. */
export interface TokenRow {
  readonly realm_id: RealmId;
  readonly push_account_id: PushAccountIdText | null;
  readonly token_lookup: string;
}

/** The place of a device's token, for {@link TokenVault.seal} and {@link TokenVault.open}. */
export function placeOfToken({ realm_id, push_account_id, token_lookup }: TokenRow): string {
  return `device ${realm_id} ${push_account_id ?? ''} ${token_lookup}`;
}
