import type { ApnsEnvironment } from '@waxwing/protocol';
import type { Delivery } from '../delivery.js';

/** What one request to a vendor came to, before anybody judges what that means. */
export type VendorAnswer =
  | { readonly kind: 'accepted' }
  | VendorRefusal
  | { readonly kind: 'unanswered'; readonly why: UnansweredReason };

export interface VendorRefusal {
  readonly kind: 'refused';
  readonly httpStatus: number;
  /** Apple's reason or Google's error code; `UNKNOWN` when the body named none. */
  readonly reason: string;
  /** The `Retry-After` header as it came. */
  readonly retryAfter?: string | undefined;
  /** APNs 410: since when the token is dead, in Unix milliseconds. */
  readonly deadSince?: number | undefined;
}

/**
 * `NOT_CONNECTED`, `NOT_PROCESSED` and `OVERLOADED`: the vendor cannot have seen the notification. `TIMED_OUT` and
 * `BROKEN_OFF`: it may have sent it.
 */
export type UnansweredReason = 'NOT_CONNECTED' | 'NOT_PROCESSED' | 'OVERLOADED' | 'TIMED_OUT' | 'BROKEN_OFF';

/** Vendors' answers have a few hundred, and Google's access tokens two thousand; a longer one cannot be read. */
export const maximumAnswerCharacters = 16 * 1024;

/** A vendor's reason as it is stored, counted and told to servers; `UNKNOWN` for none and for what is not a name. */
export function readReason(said: string | undefined): string {
  return said !== undefined && /^\w{1,64}$/.test(said) ? said : 'UNKNOWN';
}

export interface SendOptions {
  /** Which of Apple's systems; without meaning for FCM. */
  readonly environment: ApnsEnvironment;
  readonly notAfter: number;
  /** FCM judges the message without sending it; APNs has no such thing. */
  readonly isValidateOnly?: boolean | undefined;
}

/** One way to a vendor with one credential. */
export interface VendorSender {
  /**
   * Sends once; what the vendor provably has not seen may be sent again on another connection. What has not left by
   * `notAfter` (Unix milliseconds) is not sent any more. Rejects only when no credential can be made.
   */
  send(delivery: Delivery, options: SendOptions): Promise<VendorAnswer>;
  /** Gets a credential newer than the one that was refused, where that is allowed. */
  refreshCredential(): Promise<void>;
  /** From when on a new credential may be made, in Unix milliseconds. */
  readonly renewableAt: number;
  /** Waits for what is under way, at most `deadlineMilliseconds`, then drops every connection. */
  close(deadlineMilliseconds: number): Promise<void>;
}
