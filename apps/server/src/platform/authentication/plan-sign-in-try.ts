import { backOffMilliseconds } from '@waxwing/service/lifecycle';

/** The recent sign-in failures of a name. Times are Unix milliseconds. */
export interface NameFailures {
  readonly failures: number;
  /** Start of the window in which `failures` are counted. */
  readonly since: number;
  readonly lockouts: number;
  readonly lockedUntil: number;
  readonly forgetAt: number;
}

/** Number of failed attempts in 30 minutes that locks a name. */
const triesPerWindow = 5;
const windowMilliseconds = 30 * 60_000;
const maximumLockMilliseconds = 24 * 60 * 60_000;
const lock = { firstMilliseconds: windowMilliseconds, capMilliseconds: maximumLockMilliseconds };
const rememberLockoutsMilliseconds = 24 * 60 * 60_000;

export type PlannedTry =
  | { readonly kind: 'taken'; readonly next: NameFailures }
  | { readonly kind: 'locked'; readonly waitSeconds: number };

/**
 * Counts a sign-in attempt for a name. The attempt counts as failed until it succeeds. The fifth failure within 30
 * minutes locks the name for 30 minutes. Each further lockout lasts twice as long, up to a day.
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

/**
 * Returns whether stored failures still count. Ignores an entry that is dated further ahead than the longest lockout:
 * it was stored before the system clock moved backward, and would lock the name for too long.
 */
function isInForce(known: NameFailures | undefined, now: number): known is NameFailures {
  return known !== undefined && known.forgetAt > now && known.since <= now + maximumLockMilliseconds;
}
