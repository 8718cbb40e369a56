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
  /** Apple's reason, Google's error code, or the relay's name for a push service's status; `UNKNOWN` if there is none. */
  readonly reason: string;
  /** The raw `Retry-After` header. */
  readonly retryAfter?: string | undefined;
  /** APNs 410 only: when the token died, in Unix milliseconds. */
  readonly deadSince?: number | undefined;
}

/**
 * Why a request has no answer. After `TIMED_OUT` and `BROKEN_OFF` the vendor may have delivered the notification. After
 * the other reasons, the vendor has not seen it.
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
 * Longer answers are treated as unreadable. Vendors' answers have a few hundred characters; Google's access tokens have
 * two thousand.
 */
export const maximumAnswerCharacters = 16 * 1024;

/**
 * Sanitizes a vendor's reason, which is stored, counted and sent to servers. Returns `UNKNOWN` if it is missing or not
 * an identifier.
 */
export function readReason(said: string | undefined): string {
  return said !== undefined && /^\w{1,64}$/.test(said) ? said : 'UNKNOWN';
}

export interface SendOptions {
  /** Apple's environment. Other vendors ignore it. */
  readonly environment: ApnsEnvironment;
  readonly notAfter: number;
  /** Makes FCM validate the message without sending it. Other vendors ignore it. */
  readonly isValidateOnly?: boolean | undefined;
}

/** The state of a push service's host; `unproven` if it has never answered. */
export const pushServiceStates = ['answering', 'held_back', 'unproven'] as const;
export type PushServiceState = (typeof pushServiceStates)[number];
export type PushServiceCounts = Readonly<Record<PushServiceState, number>>;

/** Client for one vendor with one credential. */
export interface VendorSender {
  /**
   * Sends once. May resend on another connection if the vendor provably has not seen the notification. Does not send
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
