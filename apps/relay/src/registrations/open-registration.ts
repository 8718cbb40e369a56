import {
  decodeBase64,
  livenessTimeoutSeconds,
  maximumEncryptedPushRegistrationCharacters,
  normalizeCiphertextBase64,
  ProtocolError,
  type PushRegistration,
  parsePushRegistration,
} from '@waxwing/protocol';
import { unixSeconds } from '@waxwing/service/lifecycle';
import type { KeyPair, Sodium } from '@waxwing/sodium';

/**
 * The bytes in an `encrypted_push_registration`. ASCII whitespace is dropped, the rest must be canonical base64.
 * `undefined` for anything else.
 */
export function decodeSealedRegistration(text: string): Uint8Array | undefined {
  const canonical = normalizeCiphertextBase64(text);
  if (canonical === undefined || canonical.length > maximumEncryptedPushRegistrationCharacters)
    return undefined;
  return decodeBase64(canonical);
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
 * timeout old passes, in whole seconds (push registration protocol, "What the relay does with it").
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
  return new ProtocolError('BAD_REQUEST', { message: 'Invalid encrypted_push_registration' });
}
