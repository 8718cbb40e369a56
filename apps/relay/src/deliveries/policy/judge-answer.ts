import type { ApnsEnvironment, DeliveryFault } from '@waxwing/protocol';
import { readRetryAfter } from '@waxwing/service/http';
import { type Delivery, expiresAt, type Vendor } from '../delivery.js';
import { isInstallationId } from '../vendors/fcm/installation-id.js';
import type { VendorAnswer } from '../vendors/vendor-sender.js';
import { type RetryScheduleName, retryDelay, retrySchedules } from './retry-schedules.js';
import { type PolicyRow, unansweredPolicy, vendorPolicies } from './vendor-policy.js';

type Unaccepted = Exclude<VendorAnswer, { kind: 'accepted' }>;

/** Period after a registration in which the relay retries an installation that Google does not know yet. */
const newInstallationMilliseconds = 24 * 60 * 60_000;

/** Outcome of one delivery, stored as a receipt and reported to the server. */
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
       * The token is dead if the device registered before this time (Unix milliseconds). `undefined` if there is no
       * device to expire.
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
  /** Whether the outcome counts as an attempt. `false` if the relay only postponed the notification. */
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

/** Verdict on a response that blames the app's credential. The credential's circuit breaker decides the outcome. */
export type CredentialVerdict =
  /**
   * The vendor refused the credential, so the response is not about this notification. The relay keeps the notification
   * until the credential works again.
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

/** Applies the policy table to the vendor's response, after any immediate second attempt. */
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

/** Decides about a dead token. If the vendor says when the token died, a device that registered later keeps it. */
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
  // After the delay that the vendor asks for, the notification may have expired. If so, retry after half of the
  // remaining time.
  const at = Math.ceil(now + (Math.ceil(askedDelay) < left ? askedDelay : Math.max(delay, left / 2)));
  return { kind: 'retry', reason, at, isTry: true, isInDoubt: scheduleName === 'ambiguous' };
}

function assertNever(row: never, { notification }: Delivery): never {
  throw new Error(`no rule for ${JSON.stringify(row)} of notification ${notification.notificationId}`);
}

/** Finds the row of the policy table for a vendor's response. Falls back to the HTTP status for an unknown reason. */
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
 * Whether the response is about the notification itself, which proves that the vendor accepted the credential. A
 * response from a busy vendor proves nothing.
 */
export function provesCredential(vendor: Vendor, answer: VendorAnswer): boolean {
  if (answer.kind !== 'refused') return answer.kind === 'accepted';
  const { outcome } = findPolicy(vendor, answer);
  return outcome === 'gone' || outcome === 'rejected';
}

/** Whether the response certainly or possibly blames the credential instead of the token. */
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
 * Whether the vendor seems to fail for the whole app: it gave no answer, reported an error of its own, or reported an
 * exceeded quota. Always `false` for push services: a phone chose the service, so its failure is not the app's problem.
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
 * Returns a reason as a metric label. Reasons that no policy table lists become `other`, so that a vendor cannot create
 * an unlimited number of labels.
 */
export function reasonLabel(vendor: Vendor, answer: VendorAnswer): string {
  if (answer.kind === 'accepted') return '';
  if (answer.kind === 'unanswered') return answer.why;
  return Object.hasOwn(vendorPolicies[vendor].reasons, answer.reason) ? answer.reason : 'other';
}
