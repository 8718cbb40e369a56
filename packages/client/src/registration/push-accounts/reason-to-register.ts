import { livenessTimeoutSeconds } from '@waxwing/protocol/phone';
import type { SentRegistration } from '../../accounts/sent-registration.js';
import type { PushDeviceState } from '../../chat-api/event-queue.js';
import type { BouncerKeyChoice } from '../../key-list/bouncer-key-choice.js';
import type { PushToken } from '../../push-token.js';
import { isKeyRefusal, isSealedToFormerKey, isWorthRepeating } from '../repeat-policy.js';

/**
 * Age at which the phone renews its registration. All active devices renew, so a relay can drop a device that stops.
 */
const renewalAgeSeconds = 30 * 86_400;

/** Reason to send a registration. */
export type ReasonToRegister =
  | 'never-registered'
  | 'lost'
  | 'token-changed'
  | 'failed'
  | 'key-refused'
  | 'key-rotated'
  | 'stuck'
  | 'old';

export interface RegistrationFacts {
  /** The last registration that this phone sent. */
  readonly sent: SentRegistration | undefined;
  /** The registration's state on the server; `undefined` if the server does not have it. */
  readonly known: PushDeviceState | undefined;
  readonly pushToken: PushToken;
  /** `undefined` if there is no usable key. */
  readonly key: BouncerKeyChoice | undefined;
  /** Unix seconds, according to the clock that the phone follows. */
  readonly now: number;
  /** Unix milliseconds according to the device's clock. */
  readonly deviceNow: number;
  /** Whether to repeat a failed registration without backoff. */
  readonly retryNow: boolean;
}

/** Returns the reason to send the registration, or `undefined` if it is up to date or a retry would not help. */
export function reasonToRegister(facts: RegistrationFacts): ReasonToRegister | undefined {
  const { sent, known, pushToken, key, now } = facts;
  if (sent === undefined) return 'never-registered';
  if (known === undefined) return 'lost';
  if (!isSameToken(sent.pushToken, pushToken)) return 'token-changed';
  if (known.status === 'failed') {
    const { errorCode } = known;
    const { retryNow, deviceNow } = facts;
    const isWorth = isWorthRepeating({ sent, errorCode, key, retryNow, now: deviceNow });
    return isWorth ? failedReason(known) : undefined;
  }
  if (isSealedToFormerKey(sent, key)) return 'key-rotated';
  const ageSeconds = Math.abs(now - sent.timestamp);
  // By then, the relay would refuse the registration with REQUEST_EXPIRED, so the server has stopped retrying.
  if (known.status === 'pending' && ageSeconds > livenessTimeoutSeconds) return 'stuck';
  return ageSeconds >= renewalAgeSeconds ? 'old' : undefined;
}

function failedReason(known: PushDeviceState): ReasonToRegister {
  return isKeyRefusal(known.errorCode) ? 'key-refused' : 'failed';
}

function isSameToken(left: PushToken, right: PushToken): boolean {
  return appOf(left) === appOf(right) && left.token === right.token;
}

function appOf(token: PushToken): string {
  return token.tokenKind === 'apns'
    ? `apns ${token.iosAppId} ${token.apnsEnvironment ?? 'production'}`
    : token.tokenKind;
}
