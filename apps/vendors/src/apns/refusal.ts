import type { AppleReason } from '../reasons/apple-reasons.js';

/** Refusal of a request by APNs. */
export interface Refusal {
  readonly reason: AppleReason;
  /** Explanation for the stand-in's log, because Apple's reason alone rarely shows what to fix. */
  readonly explanation: string;
}

export function refuse(reason: AppleReason, explanation: string): Refusal {
  return { reason, explanation };
}
