import type { AppleReason } from '../reasons/apple-reasons.js';

/** A request that APNs turns down. */
export interface Refusal {
  readonly reason: AppleReason;
  /** For the stand-in's log, since Apple's reason alone seldom tells a developer what to mend. */
  readonly explanation: string;
}

export function refuse(reason: AppleReason, explanation: string): Refusal {
  return { reason, explanation };
}
