import type { ApnsEnvironment } from '@waxwing/protocol';
import type { Delivery } from '../delivery.js';

/** Result of one request to a vendor, before `judgeAnswer` interprets it. */
export type VendorAnswer =
  | { readonly kind: 'accepted' }
  | VendorRefusal
  | { readonly kind: 'unanswered'; readonly why: UnansweredReason };

export interface VendorRefusal {
  readonly kind: 'refused';
  readonly httpStatus: number;
  /** Apple's reason, Google's error code, or the relay's name for a push service's status; `UNKNOWN` if none. */
  readonly reason: string;
  /** Raw value of the `Retry-After` header. */
  readonly retryAfter?: string | undefined;
  /** APNs 410 only: when the token died, in Unix milliseconds. */
  readonly deadSince?: number | undefined;
}

/**
 * Why a request has no response. After `TIMED_OUT` and `BROKEN_OFF`, the vendor may have delivered the notification.
 * After the other reasons, the vendor has not processed it.
 */
export type UnansweredReason =
  | 'NOT_CONNECTED'
  | 'NOT_PROCESSED'
  | 'OVERLOADED'
  | 'TIMED_OUT'
  | 'BROKEN_OFF'
  /** Web Push only: the relay may not connect to the phone's endpoint. */
  | 'ENDPOINT_REFUSED'
  /** Web Push only: the app's entry does not list the host of the phone's endpoint. */
  | 'HOST_NOT_SERVED';

/**
 * Maximum length of a readable response body. Vendors' responses are several hundred characters long, and responses
 * with Google's access tokens two thousand.
 */
export const maximumAnswerCharacters = 16 * 1024;

/**
 * Sanitizes a vendor's reason, because it is stored, counted and sent to servers. Returns `UNKNOWN` for a reason that
 * is missing or not an identifier.
 */
export function readReason(said: string | undefined): string {
  return said !== undefined && /^\w{1,64}$/.test(said) ? said : 'UNKNOWN';
}

export interface SendOptions {
  /** Apple's environment. Ignored by other vendors. */
  readonly environment: ApnsEnvironment;
  readonly notAfter: number;
  /** Makes FCM validate the message without sending it. Ignored by other vendors. */
  readonly isValidateOnly?: boolean | undefined;
}

/** States of a push service's host. `held_back`: its circuit breaker is open. `unproven`: it has never answered. */
export const pushServiceStates = ['answering', 'held_back', 'unproven'] as const;
export type PushServiceState = (typeof pushServiceStates)[number];
export type PushServiceCounts = Readonly<Record<PushServiceState, number>>;

/** Client for one vendor with one credential. */
export interface VendorSender {
  /**
   * Sends a notification once. May resend it on another connection if the vendor has not processed it. Does not send
   * after `notAfter` (Unix milliseconds). Rejects only if no credential can be created.
   */
  send(delivery: Delivery, options: SendOptions): Promise<VendorAnswer>;
  /** Replaces a refused credential with a new credential, if the vendor allows that. */
  refreshCredential(): Promise<void>;
  /** Earliest time to create a new credential, in Unix milliseconds. */
  readonly renewableAt: number;
  /** States of the hosts that this sender has sent to. Empty for vendors other than Web Push. */
  readonly hostStates: readonly PushServiceState[];
  /** Drains for at most `deadlineMilliseconds`, then closes all connections. */
  close(deadlineMilliseconds: number): Promise<void>;
}
