import { createHash } from 'node:crypto';
import type { Secret } from '@waxwing/service/config';
import type { VapidKey } from './vapid-key.js';

/** Public key that clients seal registrations to: canonical base64, as on the wire. */
export type BouncerPublicKey = string & { readonly brand: 'BouncerPublicKey' };

/** Public key that verifies the key list, in base64. Clients never seal to it. */
export type SigningPublicKey = string & { readonly brand: 'SigningPublicKey' };

interface BouncerKeyFacts {
  /** Short fingerprint of the public key; see {@link keyId}. */
  readonly id: string;
  readonly publicKey: BouncerPublicKey;
  /** Unix milliseconds. */
  readonly createdAt: number;
}

/** The key that clients should seal to. */
export interface PrimaryKey extends BouncerKeyFacts {
  readonly state: 'primary';
  /** Unix milliseconds. */
  readonly primarySince: number;
  readonly privateKey: Secret<Uint8Array>;
}

/** A former primary or imported key. It opens registrations until `acceptedUntil` (Unix milliseconds, exclusive). */
export interface AcceptedKey extends BouncerKeyFacts {
  readonly state: 'accepted';
  readonly privateKey: Secret<Uint8Array>;
  /** Time when the key stopped being primary or was imported, in Unix milliseconds. */
  readonly acceptedSince: number;
  readonly acceptedUntil: number;
}

/** A key that the relay refuses, and whose private half is destroyed. */
interface RetiredKey extends BouncerKeyFacts {
  readonly state: 'retired';
  readonly retiredAt: number;
}

/** A key whose private half may have been stolen. The relay refuses it, and the key list marks it as revoked. */
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
  /**
   * Signature of this key by the previous key or by the recovery key, in base64; `undefined` for a first key without a
   * signature.
   */
  readonly endorsement: string | undefined;
}

/** Format version of stored tokens. Part of each stored token and of the key ring's document. */
export const tokenFormat = 3;

/** A key that encrypts push tokens in the database, and a separate key for their lookup hashes: 32 bytes each. */
export interface TokenKey {
  readonly id: string;
  readonly encryptionKey: Secret<Uint8Array>;
  readonly lookupKey: Secret<Uint8Array>;
  /** Time from which new rows use this key, in Unix milliseconds. All relays load the key before then. */
  readonly currentFrom: number;
}

/** The published key list. Signed once and stored, so that all relays serve the same bytes. */
export interface PublishedKeyList {
  readonly sequence: number;
  readonly issuedAt: number;
  readonly expiresAt: number;
  /** Base64 of the exact bytes that are signed. */
  readonly keyList: string;
  readonly signature: string;
  readonly signingPublicKey: SigningPublicKey;
}

/** All keys of a relay. Immutable: each transition returns a new ring. */
export interface KeyRing {
  /** Oldest first. Exactly one is primary. */
  readonly bouncerKeys: readonly BouncerKey[];
  /** Oldest first, never empty. */
  readonly signingKeys: readonly SigningKey[];
  /** Public keys of signing keys that were replaced after a theft. */
  readonly revokedSigningKeys: readonly SigningPublicKey[];
  /** The private half is kept offline. `undefined` if the operator has not created a recovery key. */
  readonly recoveryPublicKey: SigningPublicKey | undefined;
  /** Oldest first, never empty. */
  readonly tokenKeys: readonly TokenKey[];
  /** One key pair for each Web Push app, oldest first. */
  readonly vapidKeys: readonly VapidKey[];
  /** `undefined` only before the first list is signed. */
  readonly published: PublishedKeyList | undefined;
}

/** Returns the id of a key: the first 12 hexadecimal digits of the SHA-256 of the public key's 32 bytes. */
export function keyId(publicKey: Uint8Array): string {
  return createHash('sha256').update(publicKey).digest('hex').slice(0, 12);
}

export function primaryKey(ring: KeyRing): PrimaryKey {
  const primary = ring.bouncerKeys.find((key) => key.state === 'primary');
  if (primary === undefined) throw new Error('a key ring without a primary key passed validation');
  return primary;
}

/** Returns the keys that open registrations at `now`: the primary, and accepted keys before their end date. */
export function openingKeys(ring: KeyRing, now: number): readonly OpeningKey[] {
  return ring.bouncerKeys.filter(
    (key): key is OpeningKey =>
      key.state === 'primary' || (key.state === 'accepted' && now < key.acceptedUntil),
  );
}

/** Finds a key by id or public key. Returns `undefined` if the ring has no such key. */
export function findKey(ring: KeyRing, name: string): BouncerKey | undefined {
  return ring.bouncerKeys.find((key) => key.id === name || key.publicKey === name);
}

export function currentSigningKey(ring: KeyRing): SigningKey & { readonly privateKey: Secret<Uint8Array> } {
  const last = ring.signingKeys.at(-1);
  if (last?.privateKey === undefined) throw new Error('a key ring without a signing key passed validation');
  return { ...last, privateKey: last.privateKey };
}
