import {
  decodePublicKey,
  encodeBase64,
  encodePushRegistration,
  type PushRegistration,
} from '@waxwing/protocol/phone';
import type { Sodium } from '@waxwing/sodium';

const nonceBytes = 16;

/**
 * The value of `encrypted_push_registration`: a sealed box that the owner of the bouncer key alone can open, in base64.
 * What is sealed carries a random nonce and is padded, so that its length tells little about the token.
 * @param bouncerPublicKey base64 of 32 bytes.
 * @throws RangeError when the key is not one, or is a low-order point.
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
