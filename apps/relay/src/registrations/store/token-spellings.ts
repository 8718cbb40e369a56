import { compactApnsToken, type PushTarget, type TokenId } from '@waxwing/protocol';
import { computeTokenId } from './addressee.js';

/**
 * The token as it was sent, and for `apns` also without whitespace in lower and in upper case: Apple ignores the case of
 * digits, but lookups and token ids do not.
 */
export function spellingsOf({ tokenKind, token }: Pick<PushTarget, 'tokenKind' | 'token'>): string[] {
  const compact = compactApnsToken(token);
  const tokens = tokenKind !== 'apns' ? [token] : [token, compact.toLowerCase(), compact.toUpperCase()];
  return [...new Set(tokens)];
}

/** Those of the ids that belong to the same token. */
export function sameTokenIds(target: PushTarget, ids: readonly TokenId[]): TokenId[] {
  if (ids.length === 0) return [];
  const own = new Set(spellingsOf(target).map(computeTokenId));
  return ids.filter((id) => own.has(id));
}
