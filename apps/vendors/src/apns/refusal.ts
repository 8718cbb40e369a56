import type { AppleReason } from '../reasons/apple-reasons.js';

/** Refusal of a request by APNs. */
export interface Refusal {
  readonly reason: AppleReason;
  /** For the stand-in's log: Apple's reason alone rarely shows a developer what to fix. */
  readonly explanation: string;
}

export function refuse(reason: AppleReason, explanation: string): Refusal {
  return { reason, explanation };
}
