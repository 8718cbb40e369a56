import { createHash } from 'node:crypto';
import { livenessTimeoutSeconds, type PushAccountId, type PushRegistration } from '@waxwing/protocol';
import { unixSeconds } from '@waxwing/service/lifecycle';

/** What a registration was presented for. */
export interface Presentation {
  /** UUID of the realm, lower case. */
  readonly realmUuid: string;
  readonly pushAccountId: PushAccountId;
  /** Unix milliseconds. */
  readonly now: number;
}

type BoundFields = Pick<PushRegistration, 'audience' | 'pushAccountId' | 'timestamp' | 'sequence'>;

/**
 * Whether a registration may count for this realm and account, as far as it says itself: an audience, if it has one, is
 * the realm, a push account id the account, and its timestamp and its sequence, which is the millisecond of the sealing,
 * lie no further in the future than the liveness timeout: after a sequence beyond, no true one would count any more. A
 * registration without them, as stock clients make them, may count for any.
 */
export function isBoundTo(
  { audience, pushAccountId, timestamp, sequence = 0 }: BoundFields,
  presentation: Presentation,
): boolean {
  const { realmUuid, now } = presentation;
  if (pushAccountId !== undefined && pushAccountId !== presentation.pushAccountId) return false;
  if (audience !== undefined && audience !== realmUuid) return false;
  const latest = unixSeconds(now) + livenessTimeoutSeconds;
  return timestamp <= latest && unixSeconds(sequence) <= latest;
}

/** What a sealed registration is remembered by, for as long as it could be presented again. */
export interface SealedRegistrationMark {
  /** SHA-256 of the sealed bytes, in base64: no other realm may present the same, and its own for few accounts. */
  readonly hash: string;
  /** Unix milliseconds from which the registration is too old for anybody, so that it may be forgotten. */
  readonly forgetAt: number;
}

/**
 * What to remember of a registration that was opened; `undefined` for one that names its audience, which keeps it from
 * counting for another realm without anybody's memory.
 */
export function markSealedRegistration(
  sealed: Uint8Array,
  { audience, timestamp }: Pick<PushRegistration, 'audience' | 'timestamp'>,
): SealedRegistrationMark | undefined {
  if (audience !== undefined) return undefined;
  const hash = createHash('sha256').update(sealed).digest('base64');
  // In its last second it still passes.
  return { hash, forgetAt: (timestamp + livenessTimeoutSeconds + 1) * 1000 };
}
