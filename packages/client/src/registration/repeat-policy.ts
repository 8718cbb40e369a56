import type { SentRegistration } from '../accounts/sent-registration.js';
import type { BouncerKeyChoice, NoBouncerKey } from '../key-list/bouncer-key-choice.js';

// One for the state found, one after a refused key or a wrong clock, one for a new account or device.
export const mostRegistrationsOfOneSync = 3;

/** Whether a registration is sealed to another key than the primary one of a list that was just fetched. */
export function isSealedToFormerKey(
  sent: SentRegistration | undefined,
  key: BouncerKeyChoice | NoBouncerKey | undefined,
): boolean {
  return sent !== undefined && key?.source === 'key-list' && key.publicKey !== sent.bouncerPublicKey;
}

/** Whether the relay refused the key that a registration was sealed to. */
export function isKeyRefusal(errorCode: string | undefined): boolean {
  return errorCode === 'INVALID_BOUNCER_PUBLIC_KEY';
}

/**
 * Whether to repeat a failed registration. Another key than the refused one is always worth a try. The same key is
 * retried once per newly fetched key list.
 */
export function isWorthRepeating(
  sent: SentRegistration | undefined,
  errorCode: string | undefined,
  key: BouncerKeyChoice | undefined,
): boolean {
  if (sent === undefined || !isKeyRefusal(errorCode) || key === undefined) return true;
  if (key.publicKey !== sent.bouncerPublicKey) return true;
  return key.source === 'key-list' && sent.repeatedForSequence !== key.sequence;
}

/** Of a sync's own registrations, only these two failures can succeed on a retry. */
export function canRepeatAtOnce(errorCode: string | undefined, isServerTime: boolean): boolean {
  return isKeyRefusal(errorCode) || (errorCode === 'REQUEST_EXPIRED' && isServerTime);
}
