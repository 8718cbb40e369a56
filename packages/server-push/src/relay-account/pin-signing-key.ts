import { type KeyListAnswer, type KeyListRefusal, verifyKeyList } from '@waxwing/protocol';
import type { Sodium } from '@waxwing/sodium';

/**
 * Result of {@link verifyPinned}.
 *
 * - `verified`: `signingPublicKey` signed the list; if a key is pinned, endorsements lead from the pinned key to it
 * - `refused`: the reason, as phones would report it
 */
export type PinnedKeyList =
  | { readonly kind: 'verified'; readonly signingPublicKey: string; readonly expiresAtSeconds: number }
  | { readonly kind: 'refused'; readonly reason: KeyListRefusal };

/** Verifies a relay's key list against the pinned signing key. If no key is pinned, trusts the list's own key. */
export function verifyPinned(
  answer: KeyListAnswer,
  pinned: string | undefined,
  { sodium, now }: { readonly sodium: Sodium; readonly now: number },
): PinnedKeyList {
  const verdict = verifyKeyList(answer, {
    verify: (signature, message, publicKey) => sodium.verifyDetached(signature, message, publicKey),
    signingPublicKey: pinned ?? answer.signing_public_key,
    recoveryPublicKey: undefined,
    revokedKeys: new Set(),
    lastSequence: 0,
    nowSeconds: Math.floor(now / 1000),
  });
  if (verdict.kind === 'refused') return verdict;
  const { list, signingPublicKey } = verdict;
  return { kind: 'verified', signingPublicKey, expiresAtSeconds: list.expires_at };
}
