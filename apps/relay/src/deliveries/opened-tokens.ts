import type { TokenVault } from '../registrations/token-vault.js';

const maximumTokens = 10_000;

/**
 * A vault that remembers what it opened lately: phones in use get many notifications, and decrypting a token each time
 * costs as much as looking up its row.
 */
export function rememberOpenedTokens(vault: TokenVault): TokenVault {
  const opened = new Map<string, string>();
  return {
    lookups: (token) => vault.lookups(token),
    seal: (token) => vault.seal(token),
    open(sealed) {
      const known = opened.get(sealed);
      if (known !== undefined) return known;
      const token = vault.open(sealed);
      opened.set(sealed, token);
      const [oldest] = opened.keys();
      if (opened.size > maximumTokens && oldest !== undefined) opened.delete(oldest);
      return token;
    },
  };
}
