import {
  decodePublicKey,
  encodeBase64,
  encodePushRegistration,
  type PushRegistration,
} from '@waxwing/protocol/phone';
import type { Sodium } from '@waxwing/sodium';

const nonceBytes = 16;

/**
 * Seals a registration to the relay's key. Returns the base64 value of `encrypted_push_registration`, which only the
 * relay can open. The plaintext has a random nonce and padding, so that its length reveals little about the token.
 *
 * @param bouncerPublicKey base64 of 32 bytes.
 *
 * @throws RangeError if the key is invalid or a low-order point.
 */
export function sealRegistration(
  sodium: Sodium,
  registration: PushRegistration,
  bouncerPublicKey: string,
): string {
  const publicKey = decodePublicKey(bouncerPublicKey);
  if (publicKey === undefined) {
    throw new RangeError(`The bouncer public key must be base64 of 32 bytes, but is "${bouncerPublicKey}".`);
  }
  const nonce = encodeBase64(sodium.randomBytes(nonceBytes));
  return encodeBase64(sodium.seal(encodePushRegistration(registration, { nonce, padded: true }), publicKey));
}
