import type { ApnsEnvironment, DeliveryFault } from '@waxwing/protocol';
import { readRetryAfter } from '@waxwing/service/http';
import { type Delivery, expiresAt, type Vendor } from '../delivery.js';
import { isInstallationId } from '../vendors/fcm/installation-id.js';
import type { VendorAnswer } from '../vendors/vendor-sender.js';
import { type RetryScheduleName, retryDelay, retrySchedules } from './retry-schedules.js';
import { type PolicyRow, unansweredPolicy, vendorPolicies } from './vendor-policy.js';

type Unaccepted = Exclude<VendorAnswer, { kind: 'accepted' }>;

/** Time after a registration during which the relay retries an installation that Google does not know yet. */
const newInstallationMilliseconds = 24 * 60 * 60_000;

/** Outcome of one delivery: stored as a receipt and reported to its server. */
export type Outcome =
  | {
      readonly kind: 'sent';
      /** The Apple environment that accepted the notification, if it differs from the registered environment. */
      readonly workedEnvironment?: ApnsEnvironment;
    }
  | {
      readonly kind: 'gone';
      readonly reason: string;
      /**
       * The token is dead if the device registered before this time (Unix milliseconds). Missing if there is no device
       * to expire.
       */
      readonly ifRegisteredBefore?: number;
    }
  | RetryOutcome
  | RejectedOutcome;

export interface RetryOutcome {
  readonly kind: 'retry';
  readonly reason: string;
  /** Unix milliseconds. */
  readonly at: number;
  /** `false` if the notification was only held back, which does not count as an attempt. */
  readonly isTry: boolean;
  /** Whether the vendor may have delivered the notification anyway. */
  readonly isInDoubt?: boolean;
  /** Set while the vendor refuses the app's credential, which the operator must fix. */
  readonly fault?: 'relay-configuration';
}

interface RejectedOutcome {
  readonly kind: 'rejected';
  readonly reason: string;
  readonly fault: DeliveryFault;
  /** The bundle id that the apps file does not serve. */
  readonly app?: string;
}

/** An answer that blames the app's credential. The credential's circuit breaker decides the outcome. */
export type CredentialVerdict =
  /**
   * The vendor refused the credential, so the answer does not concern this notification. The relay holds it until the
   * credential works again.
   */
  | {
      readonly kind: 'credential-trouble';
      readonly reason: string;
      readonly trouble: 'refused' | 'mint-throttled';
    }
  /** The credential may have been refused. `otherwise` is the outcome if it was not. */
  | {
      readonly kind: 'credential-suspected';
      readonly reason: string;
      readonly otherwise: RetryOutcome | RejectedOutcome;
    };

export interface JudgeOptions {
  readonly now: number;
  readonly random: () => number;
  /** Divides every delay: 1 in production, larger in tests. */
  readonly delayDivisor: number;
}

export interface AnsweredDelivery {
  readonly vendor: Vendor;
  readonly delivery: Delivery;
  readonly answer: VendorAnswer;
  /** Number of attempts so far, including this one. */
  readonly tries: number;
  /** Number of earlier attempts that may have delivered the notification. */
  readonly doubtsBefore: number;
}

/** Applies the policy table to an answer, after any immediate second attempt. */
export function judgeAnswer(answered: AnsweredDelivery, options: JudgeOptions): Outcome | CredentialVerdict {
  const { vendor, answer, delivery } = answered;
  if (answer.kind === 'accepted') return { kind: 'sent' };
  const row = findPolicy(vendor, answer);
  const reason = reasonOf(answer);
  switch (row.outcome) {
    case 'gone':
      return row.sparesNewInstallations && isNewInstallation(delivery, options.now)
        ? judgeRetry(answered, 'newInstallation', reason, options)
        : judgeDeath(answered, row.isDated, reason);
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

/** Whether the device registered with an installation id within the last day. */
function isNewInstallation({ device: { target, registeredAt } }: Delivery, now: number): boolean {
  return now - registeredAt < newInstallationMilliseconds && isInstallationId(target.token);
}

/** Judges a dead token. If the vendor says when the token died, a device that registered later keeps its token. */
function judgeDeath({ answer, delivery }: AnsweredDelivery, isDated: boolean, reason: string): Outcome {
  // Only the registration that this attempt used is dead. A newer registration stays valid.
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
): RetryOutcome | RejectedOutcome {
  const schedule = retrySchedules[scheduleName];
  const rejected: RejectedOutcome = { kind: 'rejected', reason, fault: 'vendor' };
  if ('maximumTries' in schedule && doubtsBefore + 1 >= schedule.maximumTries) return rejected;
  const { notification } = delivery;
  const stopAt = Math.min(expiresAt(notification), notification.receivedAt + schedule.stopAfterMilliseconds);
  const left = stopAt - now;
  const question = { schedule, tries, random };
  const delay = retryDelay(question) / delayDivisor;
  if (Math.ceil(delay) >= left) return rejected;
  const asked = answer.kind === 'refused' ? readRetryAfter(answer.retryAfter, now) : undefined;
  const askedDelay = retryDelay({ ...question, retryAfterMilliseconds: asked }) / delayDivisor;
  // If the vendor asks for more time than the notification has left, retry after half of the remaining time: after the
  // full delay, the notification would have expired.
  const at = Math.ceil(now + (Math.ceil(askedDelay) < left ? askedDelay : Math.max(delay, left / 2)));
  return { kind: 'retry', reason, at, isTry: true, isInDoubt: scheduleName === 'ambiguous' };
}

function assertNever(row: never, { notification }: Delivery): never {
  throw new Error(`no rule for ${JSON.stringify(row)} of notification ${notification.notificationId}`);
}

/** Finds an answer's row in the policy table. For an unknown reason, uses the HTTP status. */
export function findPolicy(vendor: Vendor, answer: Unaccepted): PolicyRow {
  if (answer.kind === 'unanswered') return unansweredPolicy[answer.why];
  const { reasons } = vendorPolicies[vendor];
  if (Object.hasOwn(reasons, answer.reason)) return reasons[answer.reason] as PolicyRow;
  return byStatus(vendor, answer.httpStatus);
}

function byStatus(vendor: Vendor, httpStatus: number): PolicyRow {
  if (httpStatus === 401 || httpStatus === 403) return { outcome: 'credential-suspected' };
  if (httpStatus === 429) {
    return { outcome: 'retry', schedule: vendorPolicies[vendor].throttled };
  }
  if (httpStatus >= 400 && httpStatus < 500) return { outcome: 'rejected', fault: 'relay' };
  return { outcome: 'retry', schedule: vendorPolicies[vendor].unavailable };
}

/**
 * Whether the answer concerns the notification itself, which proves that the vendor accepted the credential. An answer
 * from a busy vendor proves nothing.
 */
export function provesCredential(vendor: Vendor, answer: VendorAnswer): boolean {
  if (answer.kind !== 'refused') return answer.kind === 'accepted';
  const { outcome } = findPolicy(vendor, answer);
  return outcome === 'gone' || outcome === 'rejected';
}

/** Whether the answer blames, or may blame, the credential instead of the token. */
export function blamesCredential(vendor: Vendor, answer: VendorAnswer): boolean {
  if (answer.kind !== 'refused' || provesCredential(vendor, answer)) return false;
  return findPolicy(vendor, answer).outcome !== 'retry';
}

const deviceThrottles: ReadonlySet<RetryScheduleName> = new Set(['apnsDeviceThrottle', 'webPushThrottle']);

/** Whether the vendor throttles only this device. */
export function throttlesDevice(vendor: Vendor, answer: Unaccepted): boolean {
  const row = findPolicy(vendor, answer);
  return row.outcome === 'retry' && deviceThrottles.has(row.schedule);
}

/**
 * Whether the answer suggests that the vendor is failing for the whole app: no answer, a vendor error, or an exceeded
 * quota. Always `false` for a push service: a phone chose it, so its failure does not indicate a problem of the app.
 */
export function failsApp(vendor: Vendor, answer: Unaccepted): boolean {
  if (vendor === 'webpush') return false;
  return findPolicy(vendor, answer).outcome === 'retry' && !throttlesDevice(vendor, answer);
}

/** Returns the vendor's reason, or why the vendor did not answer. */
export function reasonOf(answer: Unaccepted): string {
  return answer.kind === 'refused' ? answer.reason : answer.why;
}

/**
 * Returns a reason as a metric label. Reasons outside the tables become `other`, so that a vendor cannot create an
 * unlimited number of labels.
 */
export function reasonLabel(vendor: Vendor, answer: VendorAnswer): string {
  if (answer.kind === 'accepted') return '';
  if (answer.kind === 'unanswered') return answer.why;
  return Object.hasOwn(vendorPolicies[vendor].reasons, answer.reason) ? answer.reason : 'other';
}
