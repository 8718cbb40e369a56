import { ConfigurationError } from '@waxwing/service/config';
import type { BouncerKey, KeyRing, PublishedKeyList } from '../ring/key-ring.js';
import { dayMilliseconds, type RotationPolicy } from '../ring/rotation-policy.js';

/**
 * Checks the clock against the times in the ring. If they are far apart, the clock is wrong now or was wrong earlier.
 * The relay then refuses to change the ring. A change could destroy keys too early, or sign lists that phones reject
 * until their own clocks reach that time.
 */

/**
 * Maximum lag of the clock behind the ring. Phones accept a list whose sequence is up to a day ahead of its date. One
 * minute less than a day, because the date is in whole seconds and each list increments the sequence by one.
 */
const allowedLagMilliseconds = dayMilliseconds - 60_000;

/**
 * Maximum lead of a list's sequence over a phone's clock, regardless of the list's date. Equal to the phones' own
 * tolerance (`longestClockLagMilliseconds` of the client).
 */
export const followedAheadMilliseconds = 7 * dayMilliseconds;

/**
 * Maximum lead of a sequence over a date. The sequence stays ahead for days after the dates were reset. The extra
 * minute allows for lists signed in quick succession, each of which increments the sequence by one.
 */
const mendedLeadMilliseconds = followedAheadMilliseconds + 60_000 - allowedLagMilliseconds;

/** Longest plausible time without a change to the ring. By default, a running relay signs the list every 15 days. */
const longestRestMilliseconds = 90 * dayMilliseconds;

/**
 * Delay before rows are written with a new token key: long enough for every relay that shares the ring to load the key.
 */
export const tokenKeyNoticeMilliseconds = 120_000;

/** Error for a clock that contradicts the times in the ring. Its message says how to fix the clock or the ring. */
export class ClockDoubtError extends ConfigurationError {}

export interface ClockReading {
  /** Unix milliseconds. */
  readonly now: number;
  /** The current day according to the operator (its first instant in UTC, Unix milliseconds), if given. */
  readonly confirmedDay: number | undefined;
  /** A time that has certainly passed: a running relay measures it from its start with a monotonic clock. */
  readonly witnessed?: number | undefined;
}

/** Whether the clock shows the confirmed day, with a day of tolerance for time zones. */
export function isConfirmed({ now, confirmedDay }: ClockReading): boolean {
  if (confirmedDay === undefined) return false;
  return now >= confirmedDay - dayMilliseconds && now < confirmedDay + 2 * dayMilliseconds;
}

/** Parses a day such as `2026-11-22`. Returns its first instant in UTC, or `undefined` for any other string. */
export function parseDay(text: string): number | undefined {
  const day = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(day) ? undefined : day;
}

/** @throws ClockDoubtError if the clock is far from the times in the ring. */
export function requireClockOfRing(ring: KeyRing, reading: ClockReading): void {
  const { now } = reading;
  const latest = latestInstant(ring);
  const days = Math.round(Math.abs(now - latest) / dayMilliseconds);
  const [clock, last] = [now, latest].map((instant) => new Date(instant).toISOString());
  if (latest > now + allowedLagMilliseconds) {
    throw new ClockDoubtError([
      `The clock says ${clock}, but the key ring was changed at ${last}, ${days} days later: correct the clock or, if it is correct now and was wrong then, correct the ring with waxwing-relay keys mend-dates --today YYYY-MM-DD.`,
    ]);
  }
  const passed = Math.max(latest, reading.witnessed ?? 0);
  if (now > passed + longestRestMilliseconds && !isConfirmed(reading)) {
    throw new ClockDoubtError([
      `The clock says ${clock}, ${days} days after the last change of the key ring: correct the clock or, if it is correct and no relay ran for so long, set RELAY_KEY_TODAY=YYYY-MM-DD to the current day and try again.`,
    ]);
  }
}

/**
 * Resets dates that a fast clock wrote into the ring to `now`, and marks the list to be signed again. If the last
 * sequence is at most a week ahead, the new list continues it, and phones that accepted the last list accept the new
 * list too. Otherwise the sequence restarts from the clock, for the phones that refused the last list. The few phones
 * that accepted the last list, because their own clocks were also ahead, accept a new list only once its sequence is
 * higher. Returns the same ring object if no date is more than a day ahead.
 */
export function mendDates(
  ring: KeyRing,
  { now, policy }: { readonly now: number; readonly policy: RotationPolicy },
): KeyRing {
  if (latestInstant(ring) <= now + allowedLagMilliseconds) return ring;
  const past = (instant: number) => Math.min(instant, now);
  return {
    ...ring,
    bouncerKeys: ring.bouncerKeys.map((key) => mendKey(key, { now, policy })),
    signingKeys: ring.signingKeys.map((key) => ({ ...key, createdAt: past(key.createdAt) })),
    tokenKeys: ring.tokenKeys.map((key) => ({
      ...key,
      currentFrom: Math.min(key.currentFrom, now + tokenKeyNoticeMilliseconds),
    })),
    published: ring.published && mendPublished(ring.published, now),
  };
}

function mendKey(
  key: BouncerKey,
  { now, policy }: { readonly now: number; readonly policy: RotationPolicy },
): BouncerKey {
  const createdAt = Math.min(key.createdAt, now);
  switch (key.state) {
    case 'primary':
      return { ...key, createdAt, primarySince: Math.min(key.primarySince, now) };
    case 'accepted':
      if (key.acceptedSince <= now) return { ...key, createdAt };
      return { ...key, createdAt, acceptedSince: now, acceptedUntil: now + policy.acceptForMilliseconds };
    case 'retired':
      return { ...key, createdAt, retiredAt: Math.min(key.retiredAt, now) };
    case 'compromised':
      return { ...key, createdAt, revokedAt: Math.min(key.revokedAt, now) };
  }
}

function mendPublished(published: PublishedKeyList, now: number): PublishedKeyList {
  const mayBeFollowed = published.sequence <= now + followedAheadMilliseconds;
  // `issuedAt: 0` makes the list stale, so the relay signs it again with the next sequence.
  return { ...published, sequence: mayBeFollowed ? published.sequence : now - 1, issuedAt: 0 };
}

/** Returns the time of the ring's last change (Unix milliseconds, by the clock of the process that made the change). */
function latestInstant({ bouncerKeys, signingKeys, tokenKeys, published }: KeyRing): number {
  return Math.max(
    published?.issuedAt ?? 0,
    (published?.sequence ?? 0) - mendedLeadMilliseconds,
    ...signingKeys.map(({ createdAt }) => createdAt),
    ...tokenKeys.map(({ currentFrom }) => currentFrom - tokenKeyNoticeMilliseconds),
    ...bouncerKeys.map(changedAt),
  );
}

function changedAt(key: BouncerKey): number {
  switch (key.state) {
    case 'primary':
      return key.primarySince;
    case 'accepted':
      return key.acceptedSince;
    case 'retired':
      return key.retiredAt;
    case 'compromised':
      return key.revokedAt;
  }
}
