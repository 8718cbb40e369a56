import { LRUCache } from 'lru-cache';
import type { TokenVault } from './token-vault.js';

const maximumTokens = 10_000;

/**
 * A vault that remembers what it opened lately: phones in use get many notifications, and decrypting a token each time
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
      // What was opened in one place says nothing about another.
      if (known?.place === place) return known.token;
      const token = vault.open(sealed, place);
      if (typeof token !== 'string') return token;
      opened.set(sealed, { token, place });
      return token;
    },
  };
}
