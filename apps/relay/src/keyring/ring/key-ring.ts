import { createHash } from 'node:crypto';
import type { Secret } from '@waxwing/service/config';

/** What registrations are sealed to: canonical base64, as it stands on the wire. */
export type BouncerPublicKey = string & { readonly brand: 'BouncerPublicKey' };

/** What the key list is verified with, in base64. Nothing is sealed to it. */
export type SigningPublicKey = string & { readonly brand: 'SigningPublicKey' };

interface BouncerKeyFacts {
  /** Short fingerprint of the public key; see {@link keyId}. */
  readonly id: string;
  readonly publicKey: BouncerPublicKey;
  /** Unix milliseconds. */
  readonly createdAt: number;
}

/** Clients should seal to it. */
export interface PrimaryKey extends BouncerKeyFacts {
  readonly state: 'primary';
  /** Unix milliseconds. */
  readonly primarySince: number;
  readonly privateKey: Secret<Uint8Array>;
}

/** Still opens what was sealed to it, until `acceptedUntil` (Unix milliseconds), that instant not included. */
export interface AcceptedKey extends BouncerKeyFacts {
  readonly state: 'accepted';
  readonly privateKey: Secret<Uint8Array>;
  /** Since when it is not (or not yet) the primary, in Unix milliseconds. */
  readonly acceptedSince: number;
  readonly acceptedUntil: number;
}

/** Refused; its private half is destroyed. */
interface RetiredKey extends BouncerKeyFacts {
  readonly state: 'retired';
  readonly retiredAt: number;
}

/** Refused and listed as revoked, since somebody else may have the private half. */
interface CompromisedKey extends BouncerKeyFacts {
  readonly state: 'compromised';
  readonly revokedAt: number;
}

export type BouncerKey = PrimaryKey | AcceptedKey | RetiredKey | CompromisedKey;
export type OpeningKey = PrimaryKey | AcceptedKey;

/** One link of the chain of Ed25519 keys that sign the key list. Only the last link has a private half. */
export interface SigningKey {
  readonly publicKey: SigningPublicKey;
  readonly privateKey: Secret<Uint8Array> | undefined;
  readonly createdAt: number;
  /** Base64 signature of this key by the one before, or by the recovery key; `undefined` for a first key without one. */
  readonly endorsement: string | undefined;
}

/** The format of stored tokens, as their texts and the key ring's document name it. */
export const tokenFormat = 3;

/** What encrypts push tokens in the database, and the separate key of their look-up hash: 32 bytes each. */
export interface TokenKey {
  readonly id: string;
  readonly encryptionKey: Secret<Uint8Array>;
  readonly lookupKey: Secret<Uint8Array>;
  /** From when new rows are written with it (Unix milliseconds); all relays know it before. */
  readonly currentFrom: number;
}

/** The key list as it is published: signed once and stored, so that all relays serve the same bytes. */
export interface PublishedKeyList {
  readonly sequence: number;
  readonly issuedAt: number;
  readonly expiresAt: number;
  /** Base64 of the exact bytes that are signed. */
  readonly keyList: string;
  readonly signature: string;
  readonly signingPublicKey: SigningPublicKey;
}

/** All keys that a relay holds. Never changed in place: a transition makes the next one. */
export interface KeyRing {
  /** Oldest first. Exactly one is primary. */
  readonly bouncerKeys: readonly BouncerKey[];
  /** Oldest first, never empty. */
  readonly signingKeys: readonly SigningKey[];
  /** Public keys of signing keys that were replaced after a theft. */
  readonly revokedSigningKeys: readonly SigningPublicKey[];
  /** Its private half is kept offline; `undefined` when the operator made none. */
  readonly recoveryPublicKey: SigningPublicKey | undefined;
  /** Oldest first, never empty. */
  readonly tokenKeys: readonly TokenKey[];
  /** `undefined` only before the first one is signed. */
  readonly published: PublishedKeyList | undefined;
}

/** The first 12 hexadecimal digits of the SHA-256 of a public key's 32 bytes. */
export function keyId(publicKey: Uint8Array): string {
  return createHash('sha256').update(publicKey).digest('hex').slice(0, 12);
}

export function primaryKey(ring: KeyRing): PrimaryKey {
  const primary = ring.bouncerKeys.find((key) => key.state === 'primary');
  if (primary === undefined) throw new Error('a key ring without a primary key was let through');
  return primary;
}

/** The keys that open registrations at `now`: the primary, and what is accepted and not past its date. */
export function openingKeys(ring: KeyRing, now: number): readonly OpeningKey[] {
  return ring.bouncerKeys.filter(
    (key): key is OpeningKey =>
      key.state === 'primary' || (key.state === 'accepted' && now < key.acceptedUntil),
  );
}

/** The key with this id or public key; `undefined` when there is none. */
export function findKey(ring: KeyRing, name: string): BouncerKey | undefined {
  return ring.bouncerKeys.find((key) => key.id === name || key.publicKey === name);
}

export function currentSigningKey(ring: KeyRing): SigningKey & { readonly privateKey: Secret<Uint8Array> } {
  const last = ring.signingKeys.at(-1);
  if (last?.privateKey === undefined) throw new Error('a key ring without a signing key was let through');
  return { ...last, privateKey: last.privateKey };
}
