/**
 * How tokens rest in the database: encrypted, and found again by a keyed hash, so that a stolen database alone reveals
 * no token. The keys are not in the database.
 */
export interface TokenVault {
  /**
   * What a row with this token is found by: the same text for the same token, which tells nobody the token without the
   * key (an HMAC). New rows get the first; the others, while the key is being replaced, are what older rows may have.
   */
  lookups(token: string): readonly [string, ...string[]];
  /** The token encrypted; a different text each time. */
  seal(token: string): string;
  /** The token again. @throws Error when the text was sealed with a key that the vault does not have, or changed since. */
  open(sealed: string): string;
}
