export type FaultVendor = 'fcm' | 'apns' | 'oauth';
export type AppleSystem = 'production' | 'sandbox';

/** The vendor's refusal, instead of what it would have answered. */
export interface AnswerFault {
  readonly kind: 'answer';
  readonly status: number;
  /** Apple's reason, Google's error code or OAuth's error. */
  readonly reason: string;
  readonly message?: string;
  /** FCM: the path of the field to blame. */
  readonly field?: string;
  /** Sent as it is in place of the vendor's JSON. */
  readonly body?: string;
  /** The Retry-After header as it is sent. */
  readonly retryAfter?: string;
  /** APNs, status 410: since when the token is dead; undefined is the time of the answer. */
  readonly timestampMilliseconds?: number;
}

/** The request is broken off, before the vendor took it or after. */
interface ResetFault {
  readonly kind: 'reset';
  readonly when: 'before' | 'after';
}

/** The peer is gone without a word: nothing more is answered. */
interface SilenceFault {
  readonly kind: 'silence';
}

export type FaultEffect = AnswerFault | ResetFault | SilenceFault;

export interface GoawayFault {
  /** After how many streams of one connection. */
  readonly every: number;
  readonly errorCode: number;
  /** The reason in the frame's JSON; undefined sends no debug data. */
  readonly reason: string | undefined;
}

/** One scripted fault, checked. Absent selectors match everything; absent effects do nothing. */
export interface FaultRule {
  readonly vendor: FaultVendor;
  readonly token?: string;
  readonly topic?: string;
  readonly environment?: AppleSystem;
  /** The share of matching requests that it strikes, 0 to 1. */
  readonly rate: number;
  /** How often it strikes; Infinity without end. */
  readonly times: number;
  readonly latencyMilliseconds: number;
  readonly effect?: FaultEffect;
  readonly goaway?: GoawayFault;
  readonly maxConcurrentStreams?: number;
  readonly initialConcurrentStreams?: number;
  readonly mintIntervalSeconds?: number;
  readonly accessTokenSeconds?: number;
  /** As it was put, to be shown again. */
  readonly source: Readonly<Record<string, unknown>>;
}
