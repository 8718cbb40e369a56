import { LRUCache } from 'lru-cache';
import type { TokenVault } from './token-vault.js';

const maximumTokens = 10_000;

/**
 * Adds an LRU cache of 10,000 decrypted tokens to a vault. Active phones get many notifications, and decrypting a token
 * costs as much as looking up its row.
 */
export function rememberOpenedTokens(vault: TokenVault): TokenVault {
  const opened = new LRUCache<string, { readonly token: string; readonly binding: string }>({
    max: maximumTokens,
  });
  return {
    lookups: (token) => vault.lookups(token),
    seal: (token, binding) => vault.seal(token, binding),
    open(sealed, binding) {
      const known = opened.get(sealed);
      // A cached token is valid only for the binding with which the vault opened it.
      if (known?.binding === binding) return known.token;
      const token = vault.open(sealed, binding);
      if (typeof token !== 'string') return token;
      opened.set(sealed, { token, binding });
      return token;
    },
  };
}
