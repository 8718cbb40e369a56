import { ed25519 } from '@noble/curves/ed25519.js';
import { publicKeyOf, signDetached } from '../../support/noble-oracle.js';
import { toBase64 } from './fake-chat-server.js';

/** An Ed25519 key pair whose seed is one repeated byte. */
export interface Signer {
  readonly publicKey: string;
  readonly sign: (message: Uint8Array) => string;
}

export function signer(seedByte: number): Signer {
  const seed = new Uint8Array(32).fill(seedByte);
  return {
    publicKey: toBase64(ed25519.getPublicKey(seed)),
    sign: (message) => toBase64(signDetached(message, seed)),
  };
}

/** Returns the public key for a bouncer private key of one repeated byte, as in `FakeChatServer.addBouncerKey`. */
export function bouncerKey(privateByte: number): string {
  return toBase64(publicKeyOf(new Uint8Array(32).fill(privateByte)));
}

/** Returns `domain`, a NUL byte, and the content. Implements the published format without the code under test. */
export function inDomain(domain: string, content: Uint8Array | string): Uint8Array {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
  return Uint8Array.of(...new TextEncoder().encode(domain), 0, ...bytes);
}

export function endorse(endorser: Signer, endorsed: Signer): string {
  const bytes = Uint8Array.from(atob(endorsed.publicKey), (character) => character.charCodeAt(0));
  return endorser.sign(inDomain('waxwing signing key v1', bytes));
}

export interface KeyListPlan {
  /** Unix seconds. */
  readonly issuedAt: number;
  readonly expiresAt?: number;
  readonly sequence?: number;
  readonly primary: string;
  readonly accepted?: readonly string[];
  readonly revoked?: readonly string[];
  readonly signer: Signer;
  /** The chain of signing keys with their endorsements. Default: only the signer. */
  readonly chain?: readonly { readonly public_key: string; readonly endorsement: string | null }[];
  /** The recovery key in the list. Default: none. */
  readonly recovery?: Signer;
}

export function documentOf(plan: KeyListPlan): Record<string, unknown> {
  const { issuedAt, primary, accepted = [], signer } = plan;
  const listed = (publicKey: string, state: string, acceptedUntil: number | null) => ({
    public_key: publicKey,
    state,
    created_at: issuedAt,
    accepted_until: acceptedUntil,
  });
  return {
    version: 1,
    sequence: plan.sequence ?? issuedAt * 1000,
    issued_at: issuedAt,
    expires_at: plan.expiresAt ?? issuedAt + 30 * 86_400,
    keys: [
      listed(primary, 'primary', null),
      ...accepted.map((key) => listed(key, 'accepted', issuedAt + 400 * 86_400)),
    ],
    revoked: plan.revoked ?? [],
    signing_keys: plan.chain ?? [{ public_key: signer.publicKey, endorsement: null }],
    ...(plan.recovery === undefined ? {} : { recovery_public_key: plan.recovery.publicKey }),
  };
}

/** Builds the response to a request for the key list. */
export function keyListAnswer(
  plan: KeyListPlan,
  document: unknown = documentOf(plan),
): Record<string, unknown> {
  const text = JSON.stringify(document);
  return {
    key_list: toBase64(new TextEncoder().encode(text)),
    signature: plan.signer.sign(inDomain('waxwing key list v1', text)),
    signing_public_key: plan.signer.publicKey,
  };
}
