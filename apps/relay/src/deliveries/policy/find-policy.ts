import type { Vendor } from '../delivery.js';
import type { VendorAnswer } from '../vendors/vendor-answer.js';
import { apnsPolicy, fcmPolicy, type PolicyRow, unansweredPolicy } from './vendor-policy.js';

type Unaccepted = Exclude<VendorAnswer, { kind: 'accepted' }>;

/** The row of the policy table for an answer. A reason that no table knows is judged by its HTTP status. */
export function findPolicy(vendor: Vendor, answer: Unaccepted): PolicyRow {
  if (answer.kind === 'unanswered') return unansweredPolicy[answer.why];
  const table: Readonly<Record<string, PolicyRow>> = vendor === 'fcm' ? fcmPolicy : apnsPolicy;
  if (Object.hasOwn(table, answer.reason)) return table[answer.reason] as PolicyRow;
  return byStatus(vendor, answer.httpStatus);
}

function byStatus(vendor: Vendor, httpStatus: number): PolicyRow {
  if (httpStatus === 401 || httpStatus === 403) return { outcome: 'credential-suspected' };
  if (httpStatus === 429) {
    return { outcome: 'retry', schedule: vendor === 'fcm' ? 'fcmQuota' : 'apnsDeviceThrottle' };
  }
  if (httpStatus >= 400 && httpStatus < 500) return { outcome: 'rejected', fault: 'relay' };
  return { outcome: 'retry', schedule: vendor === 'fcm' ? 'fcmUnavailable' : 'apnsUnavailable' };
}

/** A reason as a metric's label: one of the tables', or `other`, so that a vendor cannot add labels without end. */
export function reasonLabel(vendor: Vendor, answer: VendorAnswer): string {
  if (answer.kind === 'accepted') return '';
  if (answer.kind === 'unanswered') return answer.why;
  return Object.hasOwn(vendor === 'fcm' ? fcmPolicy : apnsPolicy, answer.reason) ? answer.reason : 'other';
}
