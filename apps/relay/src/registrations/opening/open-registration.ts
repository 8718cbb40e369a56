import { hash } from 'node:crypto';
import {
  decodeCiphertextBase64,
  formatPushAccountId,
  livenessTimeoutSeconds,
  maximumEncryptedPushRegistrationCharacters,
  ProtocolError,
  type PushRegistration,
  parsePushRegistration,
  refused,
} from '@waxwing/protocol';
import { unixSeconds } from '@waxwing/service/lifecycle';
import type { KeyPair, Sodium } from '@waxwing/sodium';
import { type Addressee, computeTokenId, tokenIdOf } from '../store/addressee.js';
import type { NewRelayDevice } from '../store/relay-device.js';

// Base64 encodes three bytes in four characters.
const maximumSealedBytes = (maximumEncryptedPushRegistrationCharacters / 4) * 3;

/**
 * Decodes an `encrypted_push_registration`. Ignores ASCII whitespace; the rest must be canonical base64. Returns
 * `undefined` for any other string, or if the result is too long.
 */
export function decodeSealedRegistration(text: string): Uint8Array | undefined {
  const sealed = decodeCiphertextBase64(text);
  return sealed && sealed.length <= maximumSealedBytes ? sealed : undefined;
}

/** Opens a sealed registration. Returns `undefined` if it cannot be decrypted or is invalid. */
export function openRegistration(
  sodium: Sodium,
  sealed: Uint8Array | undefined,
  keyPair: KeyPair,
): PushRegistration | undefined {
  const plaintext = sealed && sodium.openSealed(sealed, keyPair);
  return plaintext && parsePushRegistration(plaintext);
}

/**
 * Requires that a registration was decrypted and is fresh at `now` (Unix milliseconds), and returns it. The age is
 * compared in whole seconds. An age of exactly the liveness timeout is still fresh
 * (docs/protocol.md#sealed-registration).
 * @throws ProtocolError BAD_REQUEST without a reason if the registration was not decrypted; REQUEST_EXPIRED if it is
 * too old.
 */
export function requireFreshRegistration(
  registration: PushRegistration | undefined,
  now: number,
): PushRegistration {
  if (registration === undefined) {
    throw invalidRegistration();
  }
  if (unixSeconds(now) - registration.timestamp > livenessTimeoutSeconds) {
    throw new ProtocolError('REQUEST_EXPIRED');
  }
  return registration;
}

/** Creates the error for a registration that a later registration or a revocation supersedes, even if it is fresh. */
export function supersededRegistration(): ProtocolError {
  return new ProtocolError('REQUEST_EXPIRED');
}

/**
 * Creates the error for an invalid registration. The error is the same in every case, so that it does not reveal the
 * reason.
 */
export function invalidRegistration(): ProtocolError {
  return refused('Invalid encrypted_push_registration');
}

/** Context in which a registration was presented. */
export interface Presentation {
  /** UUID of the realm, lowercase. */
  readonly realmUuid: string;
  readonly addressee: Addressee;
  /** Unix milliseconds. */
  readonly now: number;
}

type BoundFields = Pick<PushRegistration, 'audience' | 'pushAccountId' | 'timestamp' | 'sequence'>;

/**
 * Whether a registration matches the addressee, if the addressee is a token. A registration that a phone sealed for an
 * account of the older generation does not match any token.
 */
export function isOfToken(
  { token, pushAccountId }: Pick<PushRegistration, 'token' | 'pushAccountId'>,
  addressee: Addressee,
): boolean {
  const tokenId = tokenIdOf(addressee);
  return tokenId === undefined || (pushAccountId === undefined && tokenId === computeTokenId(token));
}

/**
 * Whether a registration is valid for the realm and account of its presentation. The audience, if present, must equal
 * the realm, and the push account id, if present, must equal the account. Timestamp and sequence may be ahead of `now`
 * by at most the liveness timeout. The sequence is the millisecond of sealing: a much larger value would block every
 * later registration from the phone. Registrations from stock clients omit audience and push account id, and are valid
 * for any realm and account.
 */
export function isBoundTo(
  { audience, pushAccountId, timestamp, sequence = 0 }: BoundFields,
  presentation: Presentation,
): boolean {
  const { realmUuid, addressee, now } = presentation;
  if (pushAccountId !== undefined && formatPushAccountId(pushAccountId) !== addressee) return false;
  if (audience !== undefined && audience !== realmUuid) return false;
  const latest = unixSeconds(now) + livenessTimeoutSeconds;
  return timestamp <= latest && unixSeconds(sequence) <= latest;
}

/** Replay record of a sealed registration, kept for as long as the registration could be presented again. */
export interface SealedRegistrationMark {
  /**
   * SHA-256 of the sealed bytes, in base64. Only one realm may present these bytes, and only for a limited number of
   * accounts.
   */
  readonly hash: string;
  /** When the registration becomes too old for every realm, so the record may be deleted. Unix milliseconds. */
  readonly forgetAt: number;
}

/**
 * Returns the replay record of an opened registration. Returns `undefined` if the registration names its audience,
 * because it is invalid for other realms anyway.
 */
export function markSealedRegistration(
  sealed: Uint8Array,
  { audience, timestamp }: Pick<PushRegistration, 'audience' | 'timestamp'>,
): SealedRegistrationMark | undefined {
  if (audience !== undefined) return undefined;
  const sealedHash = hash('sha256', sealed, 'base64');
  // `+ 1`: a registration is still fresh throughout its last second.
  return { hash: sealedHash, forgetAt: (timestamp + livenessTimeoutSeconds + 1) * 1000 };
}

/** An opened registration to store, and the key that opened it. */
export interface OpenedRegistration {
  readonly device: NewRelayDevice;
  readonly bouncerPublicKey: string;
  /** `undefined` if the registration names its audience, because it is then invalid for other realms. */
  readonly mark: SealedRegistrationMark | undefined;
  /** `undefined` if the registration has no sequence: stock clients send none. */
  readonly sequence?: number | undefined;
}
