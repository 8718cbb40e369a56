import { type KeyListAnswer, type KeyListRefusal, verifyKeyList } from '@waxwing/protocol';
import type { Sodium } from '@waxwing/sodium';

/**
 * - `verified`: `signingPublicKey` signs the list, and the pinned key, if there is one, leads to it by endorsements
 * - `refused`: the reason, as phones would name it
 */
export type PinnedKeyList =
  | { readonly kind: 'verified'; readonly signingPublicKey: string; readonly expiresAtSeconds: number }
  | { readonly kind: 'refused'; readonly reason: KeyListRefusal };

/** Verifies a relay's key list against the signing key that was pinned. Without one, the list's own key counts. */
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
