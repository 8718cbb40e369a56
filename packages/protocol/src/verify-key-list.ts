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

/** Checks one Ed25519 signature; `false` for anything of the wrong length or form. */
export type VerifySignature = (signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array) => boolean;

/** What a client goes by. Keys in canonical base64. */
export interface KeyListTrust {
  readonly verify: VerifySignature;
  /** The signing key of the last list that was verified, or the one that the app pins where there was none. */
  readonly signingPublicKey: string;
  /** The recovery key that is pinned beside it, or the one that a verified list has named; `undefined` without one. */
  readonly recoveryPublicKey: string | undefined;
  /** Every key that a verified list has ever called revoked, signing keys among them. */
  readonly revokedKeys: ReadonlySet<string>;
  /** Sequence of the last list that was verified; 0 where there was none. */
  readonly lastSequence: number;
  /** By the client's own clock, never by what a server says that it is. */
  readonly nowSeconds: number;
  /**
   * How far that clock may be behind before a list, or its sequence, counts as one from the future;
   * {@link keyListSkewSeconds} by default.
   */
  readonly clockLagSeconds?: number;
}

export type KeyListRefusal =
  | 'malformed'
  | 'bad-signature'
  | 'unknown-signing-key'
  | 'expired'
  | 'issued-in-the-future'
  | 'sequence-went-back'
  | 'sequence-too-far-ahead';

export type KeyListVerdict =
  | { readonly kind: 'verified'; readonly list: KeyListDocument; readonly signingPublicKey: string }
  | { readonly kind: 'refused'; readonly reason: KeyListRefusal };

/**
 * How far by default `issued_at` may lie ahead of the client's clock, and a sequence ahead of the later of both. A thief
 * of the signing key could otherwise publish one list after which no true one would ever be new enough.
 */
export const keyListSkewSeconds = 86_400;

/**
 * Whether a key list may be followed. A list with the last sequence is the last list again and passes. Keep the
 * `signingPublicKey` of what was verified: it takes the place of the pinned one, so that a key that was replaced after
 * a theft signs nothing any more.
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
  // A relay whose clock was ahead, by no more than clients tolerate, goes on from the sequence that they have followed. Its
  // date counts as well as the client's own clock, or a client that is behind would follow days later than all others.
  const latestSeconds = Math.max(list.issued_at, trust.nowSeconds) + clockLagSeconds;
  if (list.sequence > latestSeconds * 1000) return 'sequence-too-far-ahead';
  return undefined;
}

// The chain holds when it can be walked, endorsement by endorsement, from a key that is trusted to the last one.
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
