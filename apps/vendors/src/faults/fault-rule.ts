export type FaultVendor = 'fcm' | 'apns' | 'oauth' | 'webpush';
export type AppleSystem = 'production' | 'sandbox';

/** A vendor refusal that replaces the normal response. */
export interface AnswerFault {
  readonly kind: 'answer';
  readonly status: number;
  /** Apple's reason, Google's error code, an OAuth error, or the stand-ins' name for a push service's status. */
  readonly reason: string;
  readonly message?: string;
  /** FCM: path of the invalid field. */
  readonly field?: string;
  /** Raw body that replaces the vendor's JSON. */
  readonly body?: string;
  /** Raw value of the Retry-After header. */
  readonly retryAfter?: string;
  /** APNs, status 410: when the token died, in Unix milliseconds. Default: the time of the response. */
  readonly timestampMilliseconds?: number;
}

/** Resets the request before or after the vendor has processed it. */
interface ResetFault {
  readonly kind: 'reset';
  readonly when: 'before' | 'after';
}

/** Simulates a half-open connection: sends no further responses. */
interface SilenceFault {
  readonly kind: 'silence';
}

export type FaultEffect = AnswerFault | ResetFault | SilenceFault;

export interface GoawayFault {
  /** Number of streams on a connection between two GOAWAYs. */
  readonly every: number;
  readonly errorCode: number;
  /** Reason in the JSON of the frame's debug data; `undefined` sends no debug data. */
  readonly reason: string | undefined;
}

/** A valid fault rule. An absent selector matches every request. An absent effect changes nothing. */
export interface FaultRule {
  readonly vendor: FaultVendor;
  readonly token?: string;
  readonly topic?: string;
  readonly environment?: AppleSystem;
  /** Fraction of matching requests that the rule applies to, 0 to 1. */
  readonly rate: number;
  /** Maximum number of times that the rule applies; Infinity for no limit. */
  readonly times: number;
  readonly latencyMilliseconds: number;
  readonly effect?: FaultEffect;
  readonly goaway?: GoawayFault;
  readonly maxConcurrentStreams?: number;
  readonly initialConcurrentStreams?: number;
  readonly mintIntervalSeconds?: number;
  readonly accessTokenSeconds?: number;
  /** The rule as received, for `GET /faults`. */
  readonly source: Readonly<Record<string, unknown>>;
}
