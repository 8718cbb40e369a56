import { LRUCache } from 'lru-cache';
import type { TokenVault } from './token-vault.js';

const maximumTokens = 10_000;

/**
 * Wraps a vault with an LRU cache of 10,000 opened tokens. Active phones get many notifications, and decrypting a token
 * costs as much as looking up its row.
 */
export function rememberOpenedTokens(vault: TokenVault): TokenVault {
  const opened = new LRUCache<string, { readonly token: string; readonly place: string }>({
    max: maximumTokens,
  });
  return {
    lookups: (token) => vault.lookups(token),
    seal: (token, place) => vault.seal(token, place),
    open(sealed, place) {
      const known = opened.get(sealed);
      // A cached token is valid only in the place where it was opened.
      if (known?.place === place) return known.token;
      const token = vault.open(sealed, place);
      if (typeof token !== 'string') return token;
      opened.set(sealed, { token, place });
      return token;
    },
  };
}
