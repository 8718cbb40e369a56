import type { Job, JobOutcome } from '@waxwing/jobs';
import { type Clock, retryDelayMilliseconds } from '@waxwing/service/lifecycle';
import type { ServerPushTables } from '../tables.js';

export interface RetryLaterOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly capMilliseconds: number;
}

/** Why the relay did not do what a job asked of it. */
export interface RelayTrouble {
  readonly reason: string;
  /** What the relay asked for. */
  readonly retryAfterSeconds?: number | undefined;
}

const firstRetryMilliseconds = 1000;

/** The next try of a job that asks the relay: later each time, and not before the relay wants it. */
export function retryLater(
  { attempt }: Job,
  { reason, retryAfterSeconds = 0 }: RelayTrouble,
  { clock, random, capMilliseconds }: RetryLaterOptions,
): JobOutcome<ServerPushTables> {
  const delay = retryDelayMilliseconds({
    attempt,
    firstMilliseconds: firstRetryMilliseconds,
    capMilliseconds,
    random,
  });
  return { kind: 'retry', at: clock() + Math.max(delay, retryAfterSeconds * 1000), reason };
}
