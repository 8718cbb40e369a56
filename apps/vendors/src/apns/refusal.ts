import type { AppleReason } from '../reasons/apple-reasons.js';

/** Refusal of a request by APNs. */
export interface Refusal {
  readonly reason: AppleReason;
  /** Explanation for the log of the stand-ins, because Apple's reason alone rarely shows what to fix. */
  readonly explanation: string;
}

export function refuse(reason: AppleReason, explanation: string): Refusal {
  return { reason, explanation };
}
