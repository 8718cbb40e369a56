import type { SentRegistration } from '../accounts/sent-registration.js';
import type { BouncerKeyChoice, NoBouncerKey } from '../key-list/bouncer-key-choice.js';

/**
 * Maximum attempts per sync: the first attempt, a retry after a refused key or wrong clock, and an attempt for a new
 * account or device.
 */
export const mostRegistrationsOfOneSync = 3;

const firstBackoffMilliseconds = 60_000;
const longestBackoffMilliseconds = 6 * 3_600_000;

/** Returns whether a registration was sealed to a key that is not the primary key of the key list just fetched. */
export function isSealedToFormerKey(
  sent: SentRegistration | undefined,
  key: BouncerKeyChoice | NoBouncerKey | undefined,
): boolean {
  return sent !== undefined && key?.source === 'key-list' && key.publicKey !== sent.bouncerPublicKey;
}

/** Returns whether the relay refused the key to which a registration was sealed. */
export function isKeyRefusal(errorCode: string | undefined): boolean {
  return errorCode === 'INVALID_BOUNCER_PUBLIC_KEY';
}

/** A registration that failed in an earlier sync. */
export interface FailedRegistration {
  readonly sent: SentRegistration | undefined;
  readonly errorCode: string | undefined;
  readonly key: BouncerKeyChoice | undefined;
  /** Unix milliseconds according to the device's clock. */
  readonly now: number;
  /** Whether the user requested another attempt. */
  readonly retryNow: boolean;
}

/**
 * Returns whether to repeat a failed registration. After a refused key, the phone tries a different key immediately,
 * and the same key once per newly fetched key list. It repeats other failures with exponential backoff.
 */
export function isWorthRepeating(failed: FailedRegistration): boolean {
  return canSucceed(failed) && (failed.retryNow || repeatDelaySeconds(failed) === 0);
}

/**
 * Returns the number of seconds to wait before a failed registration is repeated: 0 the first time, then one minute,
 * doubling each time up to six hours. Without the delay, an app that calls `sync` on every event would retry a
 * permanent failure in a loop.
 */
export function repeatDelaySeconds({
  sent,
  errorCode,
  key,
  now,
}: Omit<FailedRegistration, 'retryNow'>): number {
  const repeats = sent?.repeats;
  if (repeats === undefined || repeats.errorCode !== errorCode) return 0;
  // No delay, because these repeats are bounded: a different key is tried immediately, and the same key once per key
  // list.
  if (isKeyRefusal(errorCode) || isSealedToFormerKey(sent, key)) return 0;
  const backoff = Math.min(longestBackoffMilliseconds, firstBackoffMilliseconds * 2 ** (repeats.count - 1));
  // Treats a time in the future as equally far in the past, because the phone's clock may have been corrected since
  // then.
  return Math.ceil(Math.max(0, backoff - Math.abs(now - repeats.lastAt)) / 1000);
}

/** Returns the repeat count for a registration that repeats a failed one. A different error code starts a new count. */
export function countRepeat(
  sent: SentRegistration | undefined,
  errorCode: string | undefined,
  now: number,
): Pick<SentRegistration, 'repeats'> {
  if (sent === undefined || errorCode === undefined) return {};
  const before = sent.repeats?.errorCode === errorCode ? sent.repeats.count : 0;
  return { repeats: { errorCode, count: before + 1, lastAt: now } };
}

function canSucceed({ sent, errorCode, key }: FailedRegistration): boolean {
  if (sent === undefined || !isKeyRefusal(errorCode) || key === undefined) return true;
  if (key.publicKey !== sent.bouncerPublicKey) return true;
  return key.source === 'key-list' && sent.repeatedForSequence !== key.sequence;
}

/**
 * Returns whether a failed registration of this sync may be retried immediately. Only a refused key and an expired
 * registration can be resolved by a retry.
 */
export function canRepeatAtOnce(errorCode: string | undefined, isServerTime: boolean): boolean {
  return isKeyRefusal(errorCode) || (errorCode === 'REQUEST_EXPIRED' && isServerTime);
}
