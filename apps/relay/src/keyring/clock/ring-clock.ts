import { ConfigurationError } from '@waxwing/service/config';
import type { BouncerKey, KeyRing, PublishedKeyList } from '../ring/key-ring.js';
import { dayMilliseconds, type RotationPolicy } from '../ring/rotation-policy.js';

/*
 * The ring holds instants that a clock once told. A clock that is far from them is wrong, or was: nothing is done by it,
 * since keys would be destroyed too early, and lists signed that phones refuse for as long as the clock was ahead.
 */

/**
 * How far behind the ring a clock may be: phones follow a list whose sequence is up to a day ahead of its date, which is
 * in whole seconds, and each list counts one further.
 */
const allowedLagMilliseconds = dayMilliseconds - 60_000;

/**
 * How far ahead of its clock the sequence of a list may lie for a phone to follow it, whatever the list's date. The same
 * as the phones' own tolerance (`longestClockLagMilliseconds` of the client).
 */
export const followedAheadMilliseconds = 7 * dayMilliseconds;

/**
 * How much further ahead a sequence may lie than a date: it stays so for days after dates were mended, and a minute leaves
 * room for the lists that are signed at once, of which each counts one further.
 */
const mendedLeadMilliseconds = followedAheadMilliseconds + 60_000 - allowedLagMilliseconds;

/** How long nothing may have happened to the ring. A relay that runs signs the list every two weeks. */
const longestRestMilliseconds = 90 * dayMilliseconds;

/** Long enough for every relay of the ring to have learnt of a token key before a row is written with it. */
export const tokenKeyNoticeMilliseconds = 120_000;

/** The clock and the ring do not go together. The message says what to do. */
export class ClockDoubtError extends ConfigurationError {}

export interface ClockReading {
  /** Unix milliseconds. */
  readonly now: number;
  /** The first instant of the day, in UTC, that the operator says it is; `undefined` when nobody said it. */
  readonly confirmedDay: number | undefined;
  /** An instant that has passed for sure: a running relay counts on from its start by a clock that is never set. */
  readonly witnessed?: number | undefined;
}

/** Whether a clock shows the day that a person named, give or take a day for time zones. */
export function isConfirmed({ now, confirmedDay }: ClockReading): boolean {
  if (confirmedDay === undefined) return false;
  return now >= confirmedDay - dayMilliseconds && now < confirmedDay + 2 * dayMilliseconds;
}

/** The first instant of a day such as `2026-11-22` in UTC; `undefined` for any other text. */
export function parseDay(text: string): number | undefined {
  const day = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(day) ? undefined : day;
}

/** @throws ClockDoubtError when the clock is far from the ring's own instants. */
export function requireClockOfRing(ring: KeyRing, reading: ClockReading): void {
  const { now } = reading;
  const latest = latestInstant(ring);
  const days = Math.round(Math.abs(now - latest) / dayMilliseconds);
  const [clock, last] = [now, latest].map((instant) => new Date(instant).toISOString());
  if (latest > now + allowedLagMilliseconds) {
    throw new ClockDoubtError([
      `The clock says ${clock}, but the key ring was changed at ${last}, ${days} days later: set the clock right or, if it is right now and was wrong then, mend the ring with waxwing-relay keys mend-dates --today YYYY-MM-DD.`,
    ]);
  }
  const passed = Math.max(latest, reading.witnessed ?? 0);
  if (now > passed + longestRestMilliseconds && !isConfirmed(reading)) {
    throw new ClockDoubtError([
      `The clock says ${clock}, ${days} days after anything last happened to the key ring: set the clock right or, if it is right and no relay ran for so long, say which day it is with RELAY_KEY_TODAY=YYYY-MM-DD and try again.`,
    ]);
  }
}

/**
 * The ring as if what a clock that was ahead has dated had been done now. The list is signed again: with the sequence
 * after the last one where that is at most a week ahead, so that phones which have followed that list follow this one;
 * otherwise by the clock, for the phones that have refused it; the few whose own clock was ahead as well follow then
 * only when that time has come. The very same ring when nothing in it is dated more than a day ahead.
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
  // Issued never, so that it is signed again, with the next sequence.
  return { ...published, sequence: mayBeFollowed ? published.sequence : now - 1, issuedAt: 0 };
}

/** When something last happened to the ring, by the clocks of those who did it; in Unix milliseconds. */
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
