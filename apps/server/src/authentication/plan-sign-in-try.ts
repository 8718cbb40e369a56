import { backOffMilliseconds } from '@waxwing/service/lifecycle';

/** What is remembered of a name that could not sign in. Instants in Unix milliseconds. */
export interface NameFailures {
  readonly failures: number;
  /** The failures are those since then. */
  readonly since: number;
  readonly lockouts: number;
  readonly lockedUntil: number;
  readonly forgetAt: number;
}

/** Tries that a name has in half an hour. */
const triesPerWindow = 5;
const windowMilliseconds = 30 * 60_000;
const maximumLockMilliseconds = 24 * 60 * 60_000;
const lock = { firstMilliseconds: windowMilliseconds, capMilliseconds: maximumLockMilliseconds };
const rememberLockoutsMilliseconds = 24 * 60 * 60_000;

export type PlannedTry =
  | { readonly kind: 'taken'; readonly next: NameFailures }
  | { readonly kind: 'locked'; readonly waitSeconds: number };

/**
 * Takes one try of a name, which counts as failed until it succeeds. With the fifth in half an hour the name is locked for
 * half an hour, and each time that it comes to that again for twice as long, a day at most.
 */
export function planSignInTry(known: NameFailures | undefined, now: number): PlannedTry {
  const before = isInForce(known, now) ? known : { failures: 0, since: now, lockouts: 0, lockedUntil: 0 };
  if (before.lockedUntil > now) {
    return { kind: 'locked', waitSeconds: Math.ceil((before.lockedUntil - now) / 1000) };
  }
  const isOver = now - before.since >= windowMilliseconds;
  const failures = (isOver ? 0 : before.failures) + 1;
  const { lockouts } = before;
  if (failures < triesPerWindow) {
    const since = isOver ? now : before.since;
    const forgetAt = Math.max(
      lockouts > 0 ? before.lockedUntil + rememberLockoutsMilliseconds : 0,
      since + windowMilliseconds,
    );
    return { kind: 'taken', next: { failures, since, lockouts, lockedUntil: before.lockedUntil, forgetAt } };
  }
  const lockedUntil = now + backOffMilliseconds({ attempt: lockouts + 1, ...lock });
  const forgetAt = lockedUntil + rememberLockoutsMilliseconds;
  const next = { failures: 0, since: lockedUntil, lockouts: lockouts + 1, lockedUntil, forgetAt };
  return { kind: 'taken', next };
}

/** What is dated further ahead than any lock lasts was written before the clock was set back: it locks nobody out. */
function isInForce(known: NameFailures | undefined, now: number): known is NameFailures {
  return known !== undefined && known.forgetAt > now && known.since <= now + maximumLockMilliseconds;
}
