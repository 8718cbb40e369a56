import { decodeBase64 } from './base64.js';
import { parseJsonOrUndefined } from './json.js';
import {
  type KeyListAnswer,
  type KeyListDocument,
  keyListSignedBytes,
  parseKeyListDocument,
  signingKeyEndorsedBytes,
} from './key-list.js';
import { decodeUtf8 } from './utf8.js';

/** Verifies one Ed25519 signature. Returns `false` if an argument has the wrong length or form. */
export type VerifySignature = (signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array) => boolean;

/** The keys, sequence and time that a client trusts when it verifies a key list. Keys are canonical base64. */
export interface KeyListTrust {
  readonly verify: VerifySignature;
  /** The signing key of the last verified list. Before the first list, the pinned key. */
  readonly signingPublicKey: string;
  /** The pinned recovery key, or else the recovery key from a verified list; `undefined` if there is neither. */
  readonly recoveryPublicKey: string | undefined;
  /** All keys that a verified list has ever revoked, including signing keys. */
  readonly revokedKeys: ReadonlySet<string>;
  /** Sequence of the last verified list; 0 before the first list. */
  readonly lastSequence: number;
  /** Unix seconds according to the client's own clock, never a server's clock. */
  readonly nowSeconds: number;
  /**
   * How far the client's clock may lag, in seconds, before a list or its sequence counts as being from the future. The
   * default is {@link keyListSkewSeconds}.
   */
  readonly clockLagSeconds?: number;
}

/**
 * Reason why a client rejects a key list.
 *
 * - `malformed`: not a valid key list
 * - `bad-signature`: the list's signature is wrong
 * - `unknown-signing-key`: no chain of endorsements leads from a trusted key to the list's signing key
 * - `expired`: past its `expires_at`
 * - `issued-in-the-future`: `issued_at` is ahead of the client's clock by more than the tolerance
 * - `sequence-went-back`: older than the last verified list
 * - `sequence-too-far-ahead`: its sequence is ahead of its date and the client's clock by more than the tolerance
 */
export type KeyListRefusal =
  | 'malformed'
  | 'bad-signature'
  | 'unknown-signing-key'
  | 'expired'
  | 'issued-in-the-future'
  | 'sequence-went-back'
  | 'sequence-too-far-ahead';

/** Result of {@link verifyKeyList}: the verified list and its signing key, or the reason for rejecting the list. */
export type KeyListVerdict =
  | { readonly kind: 'verified'; readonly list: KeyListDocument; readonly signingPublicKey: string }
  | { readonly kind: 'refused'; readonly reason: KeyListRefusal };

/**
 * Default tolerance, in seconds: how far `issued_at` may be ahead of the client's clock, and how far a sequence may be
 * ahead of the later of `issued_at` and the client's clock. Without a limit, a thief of the signing key could publish
 * one list that supersedes all later genuine lists.
 */
export const keyListSkewSeconds = 86_400;

/**
 * Verifies a key list (docs/protocol.md#following-key-lists). A list with the same sequence as the last verified list
 * is also accepted. Store the returned `signingPublicKey`, which replaces the pinned key. After a stolen signing key
 * has been replaced, clients reject lists that are signed with the stolen key.
 */
export function verifyKeyList(answer: KeyListAnswer, trust: KeyListTrust): KeyListVerdict {
  const bytes = decodeBase64(answer.key_list);
  const list = bytes && parseDocument(bytes);
  if (bytes === undefined || list === undefined) return refused('malformed');
  if (list.signing_keys[list.signing_keys.length - 1]?.public_key !== answer.signing_public_key)
    return refused('malformed');
  const signed = keyListSignedBytes(bytes);
  if (!signedBy(answer.signing_public_key, answer.signature, signed, trust)) return refused('bad-signature');
  if (!isTrusted(list.signing_keys, trust)) return refused('unknown-signing-key');
  const reason = refusalByTime(list, trust);
  if (reason !== undefined) return refused(reason);
  return { kind: 'verified', list, signingPublicKey: answer.signing_public_key };
}

function refusalByTime(list: KeyListDocument, trust: KeyListTrust): KeyListRefusal | undefined {
  if (trust.nowSeconds >= list.expires_at) return 'expired';
  const { clockLagSeconds = keyListSkewSeconds } = trust;
  if (list.issued_at > trust.nowSeconds + clockLagSeconds) return 'issued-in-the-future';
  if (list.sequence < trust.lastSequence) return 'sequence-went-back';
  // A sequence may legitimately be ahead: if a relay's clock was ahead within the tolerance, the relay continues from
  // the sequence that clients already have. The list's date also counts, because a client whose clock lags would
  // otherwise accept the list days later than others.
  const latestSeconds = Math.max(list.issued_at, trust.nowSeconds) + clockLagSeconds;
  if (list.sequence > latestSeconds * 1000) return 'sequence-too-far-ahead';
  return undefined;
}

// A chain is trusted if endorsements lead from a trusted key to the last key in the chain.
function isTrusted(chain: KeyListDocument['signing_keys'], trust: KeyListTrust): boolean {
  let trusted = false;
  let previous: string | undefined;
  for (const { public_key: publicKey, endorsement } of chain) {
    const message = signingKeyEndorsedBytes(decodeBase64(publicKey) ?? new Uint8Array());
    const endorsedBy = (key: string | undefined) =>
      key !== undefined && endorsement !== null && signedBy(key, endorsement, message, trust);
    trusted =
      !trust.revokedKeys.has(publicKey) &&
      (publicKey === trust.signingPublicKey ||
        endorsedBy(trust.recoveryPublicKey) ||
        (trusted && endorsedBy(previous)));
    previous = publicKey;
  }
  return trusted;
}

function signedBy(
  publicKey: string,
  signature: string,
  message: Uint8Array,
  { verify }: KeyListTrust,
): boolean {
  const signatureBytes = decodeBase64(signature);
  const keyBytes = decodeBase64(publicKey);
  return signatureBytes !== undefined && keyBytes !== undefined && verify(signatureBytes, message, keyBytes);
}

function parseDocument(bytes: Uint8Array): KeyListDocument | undefined {
  const text = decodeUtf8(bytes);
  return text === undefined ? undefined : parseKeyListDocument(parseJsonOrUndefined(text, JSON.parse));
}

function refused(reason: KeyListRefusal): KeyListVerdict {
  return { kind: 'refused', reason };
}
