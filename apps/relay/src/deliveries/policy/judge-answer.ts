import type { DeliveryFault } from '@waxwing/protocol';
import { parseRetryAfter } from '@waxwing/service/http';
import { type Delivery, expiresAt, type Vendor } from '../delivery.js';
import type { VendorAnswer } from '../vendors/vendor-answer.js';
import { findPolicy } from './find-policy.js';
import { type RetryScheduleName, retryDelay, retrySchedules } from './retry-schedules.js';

/** What came of one delivery, as far as it says nothing about the app's credential. */
export type PlainOutcome =
  | { readonly kind: 'sent' }
  /** The token is dead, for a device that registered before `ifRegisteredBefore` (Unix milliseconds). */
  | { readonly kind: 'gone'; readonly reason: string; readonly ifRegisteredBefore: number }
  | {
      readonly kind: 'retry';
      readonly reason: string;
      readonly at: number;
      /** Whether it may have been sent all the same. */
      readonly isInDoubt: boolean;
    }
  | { readonly kind: 'rejected'; readonly reason: string; readonly fault: DeliveryFault };

/** What came of one delivery. */
export type Outcome =
  | PlainOutcome
  /** The app's credential was refused, which says nothing about this notification: hold it until it works again. */
  | {
      readonly kind: 'credential-trouble';
      readonly reason: string;
      readonly trouble: 'refused' | 'mint-throttled';
    }
  /** The app's credential may have been refused. What holds for this notification unless it turns out that it was. */
  | { readonly kind: 'credential-suspected'; readonly reason: string; readonly otherwise: RetryOutcome };

type RetryOutcome = Extract<PlainOutcome, { kind: 'retry' | 'rejected' }>;

export interface JudgeOptions {
  readonly now: number;
  readonly random: () => number;
  /** Every delay is divided by it; 1 but in tests. */
  readonly delayDivisor: number;
}

export interface AnsweredDelivery {
  readonly vendor: Vendor;
  readonly delivery: Delivery;
  readonly answer: VendorAnswer;
  /** Tries made so far, this one included. */
  readonly tries: number;
  /** Those before this one that may have been sent all the same. */
  readonly doubtsBefore: number;
}

/** The outcome that the policy table gives an answer, once what may be tried at once was tried. */
export function judgeAnswer(answered: AnsweredDelivery, options: JudgeOptions): Outcome {
  const { vendor, answer, delivery } = answered;
  if (answer.kind === 'accepted') return { kind: 'sent' };
  const row = findPolicy(vendor, answer);
  const reason = answer.kind === 'refused' ? answer.reason : answer.why;
  switch (row.outcome) {
    case 'gone':
      return judgeDeath(answered, row.isDated, reason);
    case 'retry':
      return judgeRetry(answered, row.schedule, reason, options);
    case 'rejected':
      return { kind: 'rejected', reason, fault: row.fault };
    case 'credential-trouble':
      return { kind: 'credential-trouble', reason, trouble: 'refused' };
    case 'credential-suspected':
      return {
        kind: 'credential-suspected',
        reason,
        otherwise: judgeRetry(answered, 'credentialSuspected', reason, options),
      };
    case 'mint-throttled':
      return { kind: 'credential-trouble', reason, trouble: 'mint-throttled' };
    default:
      return assertNever(row, delivery);
  }
}

/** A vendor that says since when a token is dead speaks of an older registration if the device registered after that. */
function judgeDeath({ answer, delivery }: AnsweredDelivery, isDated: boolean, reason: string): Outcome {
  // The registration that was tried is dead, not one that has come since.
  if (!isDated) return { kind: 'gone', reason, ifRegisteredBefore: delivery.device.registeredAt + 1 };
  const deadSince = answer.kind === 'refused' ? answer.deadSince : undefined;
  if (deadSince === undefined || delivery.device.registeredAt >= deadSince) {
    return { kind: 'rejected', reason, fault: 'vendor' };
  }
  return { kind: 'gone', reason, ifRegisteredBefore: deadSince };
}

function judgeRetry(
  { answer, delivery, tries, doubtsBefore }: AnsweredDelivery,
  scheduleName: RetryScheduleName,
  reason: string,
  { now, random, delayDivisor }: JudgeOptions,
): RetryOutcome {
  const schedule = retrySchedules[scheduleName];
  const rejected: RetryOutcome = { kind: 'rejected', reason, fault: 'vendor' };
  if ('maximumTries' in schedule && doubtsBefore + 1 >= schedule.maximumTries) return rejected;
  const retryAfterMilliseconds =
    answer.kind === 'refused' ? parseRetryAfter(answer.retryAfter, now) : undefined;
  const delay = retryDelay({ schedule, tries, retryAfterMilliseconds, random }) / delayDivisor;
  const at = Math.ceil(now + delay);
  const { notification } = delivery;
  const stopAt = Math.min(expiresAt(notification), notification.receivedAt + schedule.stopAfterMilliseconds);
  return at >= stopAt ? rejected : { kind: 'retry', reason, at, isInDoubt: scheduleName === 'ambiguous' };
}

function assertNever(row: never, { notification }: Delivery): never {
  throw new Error(`no rule for ${JSON.stringify(row)} of notification ${notification.notificationId}`);
}
