import { hash } from 'node:crypto';
import {
  decodeCiphertextBase64,
  livenessTimeoutSeconds,
  maximumEncryptedPushRegistrationCharacters,
  ProtocolError,
  type PushAccountId,
  type PushRegistration,
  parsePushRegistration,
  refused,
} from '@waxwing/protocol';
import { unixSeconds } from '@waxwing/service/lifecycle';
import type { KeyPair, Sodium } from '@waxwing/sodium';
import type { NewRelayDevice } from '../store/relay-device.js';

// Base64 takes four characters for three bytes.
const maximumSealedBytes = (maximumEncryptedPushRegistrationCharacters / 4) * 3;

/**
 * The bytes in an `encrypted_push_registration`. ASCII whitespace is dropped, the rest must be canonical base64.
 * `undefined` for anything else.
 */
export function decodeSealedRegistration(text: string): Uint8Array | undefined {
  const sealed = decodeCiphertextBase64(text);
  return sealed && sealed.length <= maximumSealedBytes ? sealed : undefined;
}

/** What a client sealed to the relay; `undefined`, whatever the reason, when this is no registration. */
export function openRegistration(
  sodium: Sodium,
  sealed: Uint8Array | undefined,
  keyPair: KeyPair,
): PushRegistration | undefined {
  const plaintext = sealed && sodium.openSealed(sealed, keyPair);
  return plaintext && parsePushRegistration(plaintext);
}

/**
 * Passes a registration that opened and is fresh enough at `now` (Unix milliseconds). One that is exactly the liveness
 * timeout old passes, in whole seconds (docs/protocol.md#sealed-registration).
 * @throws ProtocolError BAD_REQUEST, the same for every reason why it did not open; REQUEST_EXPIRED.
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

/** The refusal of a registration that came after a later one of the same phone: its time is over, whatever its date. */
export function supersededRegistration(): ProtocolError {
  return new ProtocolError('REQUEST_EXPIRED');
}

/** The one refusal for every registration that is not good, so that nobody learns the reason from it. */
export function invalidRegistration(): ProtocolError {
  return refused('Invalid encrypted_push_registration');
}

/** What a registration was presented for. */
export interface Presentation {
  /** UUID of the realm, lower case. */
  readonly realmUuid: string;
  readonly pushAccountId: PushAccountId;
  /** Unix milliseconds. */
  readonly now: number;
}

type BoundFields = Pick<PushRegistration, 'audience' | 'pushAccountId' | 'timestamp' | 'sequence'>;

/**
 * Whether a registration may count for this realm and account, as far as it says itself: an audience, if it has one, is
 * the realm, a push account id the account, and its timestamp and its sequence, which is the millisecond of the sealing,
 * lie no further in the future than the liveness timeout: after a sequence beyond, no true one would count any more. A
 * registration without them, as stock clients make them, may count for any.
 */
export function isBoundTo(
  { audience, pushAccountId, timestamp, sequence = 0 }: BoundFields,
  presentation: Presentation,
): boolean {
  const { realmUuid, now } = presentation;
  if (pushAccountId !== undefined && pushAccountId !== presentation.pushAccountId) return false;
  if (audience !== undefined && audience !== realmUuid) return false;
  const latest = unixSeconds(now) + livenessTimeoutSeconds;
  return timestamp <= latest && unixSeconds(sequence) <= latest;
}

/** What a sealed registration is remembered by, for as long as it could be presented again. */
export interface SealedRegistrationMark {
  /** SHA-256 of the sealed bytes, in base64: no other realm may present the same, and its own for few accounts. */
  readonly hash: string;
  /** Unix milliseconds from which the registration is too old for anybody, so that it may be forgotten. */
  readonly forgetAt: number;
}

/**
 * What to remember of a registration that was opened; `undefined` for one that names its audience, which keeps it from
 * counting for another realm without anybody's memory.
 */
export function markSealedRegistration(
  sealed: Uint8Array,
  { audience, timestamp }: Pick<PushRegistration, 'audience' | 'timestamp'>,
): SealedRegistrationMark | undefined {
  if (audience !== undefined) return undefined;
  const sealedHash = hash('sha256', sealed, 'base64');
  // In its last second it still passes.
  return { hash: sealedHash, forgetAt: (timestamp + livenessTimeoutSeconds + 1) * 1000 };
}

/** A registration ready to be kept, and the key that opened it. */
export interface OpenedRegistration {
  readonly device: NewRelayDevice;
  readonly bouncerPublicKey: string;
  /** `undefined` for one that names its audience: it could count for no other realm. */
  readonly mark: SealedRegistrationMark | undefined;
  /** `undefined` for one without a sequence, as stock clients make them. */
  readonly sequence?: number | undefined;
}
