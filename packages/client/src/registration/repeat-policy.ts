import type { SentRegistration } from '../accounts/sent-registration.js';
import type { BouncerKeyChoice, NoBouncerKey } from '../key-list/bouncer-key-choice.js';

/**
 * Maximum attempts per sync: the first attempt, a retry after a refused key or wrong clock, and an attempt for a new account
 * or device.
 */
export const mostRegistrationsOfOneSync = 3;

const firstBackoffMilliseconds = 60_000;
const longestBackoffMilliseconds = 6 * 3_600_000;

/** Returns whether a registration is sealed to a key other than the primary key of a list that was just fetched. */
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

/** A registration that failed at an earlier sync. */
export interface FailedRegistration {
  readonly sent: SentRegistration | undefined;
  readonly errorCode: string | undefined;
  readonly key: BouncerKeyChoice | undefined;
  /** Unix milliseconds by the device's clock. */
  readonly now: number;
  /** Whether the user requested another attempt. */
  readonly retryNow: boolean;
}

/**
 * Returns whether to repeat a failed registration. After a refused key, a different key is tried at once, and the same key
 * once per newly fetched key list. Other failures are repeated with exponential backoff.
 */
export function isWorthRepeating(failed: FailedRegistration): boolean {
  return canSucceed(failed) && (failed.retryNow || repeatDelaySeconds(failed) === 0);
}

/**
 * Returns the seconds to wait before a failed registration is repeated: 0 the first time, then one minute, doubled each time
 * up to six hours. Without the delay, an app that calls `sync` on each event would repeat a permanent failure in a loop.
 */
export function repeatDelaySeconds({
  sent,
  errorCode,
  key,
  now,
}: Omit<FailedRegistration, 'retryNow'>): number {
  const repeats = sent?.repeats;
  if (repeats === undefined || repeats.errorCode !== errorCode) return 0;
  // No delay, because these repeats are bounded: another key is tried at once, and the same key once for each key list.
  if (isKeyRefusal(errorCode) || isSealedToFormerKey(sent, key)) return 0;
  const backoff = Math.min(longestBackoffMilliseconds, firstBackoffMilliseconds * 2 ** (repeats.count - 1));
  // A time in the future is treated like a time equally far in the past, because the phone's clock may have been
  // corrected since.
  return Math.ceil(Math.max(0, backoff - Math.abs(now - repeats.lastAt)) / 1000);
}

/**
 * Returns the count of repeats for a registration that repeats a failed registration. A different cause starts a new count.
 */
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

/** Returns whether a registration that this sync sent may be retried at once: only these two failures can succeed. */
export function canRepeatAtOnce(errorCode: string | undefined, isServerTime: boolean): boolean {
  return isKeyRefusal(errorCode) || (errorCode === 'REQUEST_EXPIRED' && isServerTime);
}
