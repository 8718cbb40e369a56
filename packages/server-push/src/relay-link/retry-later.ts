import type { Job, JobOutcome } from '@waxwing/jobs';
import { type Clock, retryDelayMilliseconds } from '@waxwing/service/lifecycle';
import type { ServerPushTables } from '../tables.js';

export interface RetryLaterOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly capMilliseconds: number;
}

/** Why a request to the relay failed. */
export interface RelayError {
  readonly reason: string;
  /** From the relay's `Retry-After`. */
  readonly retryAfterSeconds?: number | undefined;
}

const firstRetryMilliseconds = 1000;

/** Schedules the next attempt of a job with exponential backoff and jitter, but not before the relay's `Retry-After`. */
export function retryLater(
  { attempt }: Job,
  { reason, retryAfterSeconds = 0 }: RelayError,
  { clock, random, capMilliseconds }: RetryLaterOptions,
): Extract<JobOutcome<ServerPushTables>, { kind: 'retry' }> {
  const delay = retryDelayMilliseconds({
    attempt,
    firstMilliseconds: firstRetryMilliseconds,
    capMilliseconds,
    random,
  });
  return { kind: 'retry', at: clock() + Math.max(delay, retryAfterSeconds * 1000), reason };
}
