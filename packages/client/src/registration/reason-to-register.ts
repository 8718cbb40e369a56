import { livenessTimeoutSeconds } from '@waxwing/protocol/phone';
import type { SentRegistration } from '../accounts/push-account.js';
import type { PushToken } from '../build-registration.js';
import type { PushDeviceState } from '../chat-api/event-queue.js';
import type { BouncerKeyChoice } from '../key-list/bouncer-key-choice.js';

/** Age at which a registration is sent again, so that relays can forget phones that are gone. */
const renewalAgeSeconds = 30 * 86_400;

/** Why the phone has to send a registration. */
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
  /** What this phone has sent last. */
  readonly sent: SentRegistration | undefined;
  /** What the server says of it. */
  readonly known: PushDeviceState | undefined;
  readonly pushToken: PushToken;
  /** `undefined` when there is no key that could be used. */
  readonly key: BouncerKeyChoice | undefined;
  /** Unix seconds by the server's clock. */
  readonly now: number;
}

/** Why the registration has to be sent (again); `undefined` when all is as it should be, or trying would not help. */
export function reasonToRegister({
  sent,
  known,
  pushToken,
  key,
  now,
}: RegistrationFacts): ReasonToRegister | undefined {
  if (sent === undefined) return 'never-registered';
  if (known === undefined) return 'lost';
  if (!isSameToken(sent.pushToken, pushToken)) return 'token-changed';
  if (known.status === 'failed') return isWorthAnotherTry(sent, known, key) ? failedReason(known) : undefined;
  if (key?.source === 'key-list' && key.publicKey !== sent.bouncerPublicKey) return 'key-rotated';
  const ageSeconds = Math.abs(now - sent.timestamp);
  // By then even a relay that was down all day would answer REQUEST_EXPIRED, so nobody is trying any more.
  if (known.status === 'pending' && ageSeconds > livenessTimeoutSeconds) return 'stuck';
  return ageSeconds >= renewalAgeSeconds ? 'old' : undefined;
}

/** Whether the relay has refused the key that this registration was sealed to. */
export function isKeyRefused(known: PushDeviceState | undefined): boolean {
  return known?.status === 'failed' && known.errorCode === 'INVALID_BOUNCER_PUBLIC_KEY';
}

/**
 * A refused key is tried again once for each key list that was fetched since, whose primary may be the same key;
 * without a new list only when there is another key, as after an update of the app.
 */
function isWorthAnotherTry(
  sent: SentRegistration,
  known: PushDeviceState,
  key: BouncerKeyChoice | undefined,
): boolean {
  if (!isKeyRefused(known) || key === undefined) return true;
  if (key.source === 'key-list') return sent.repeatedForSequence !== key.sequence;
  return key.publicKey !== sent.bouncerPublicKey;
}

function failedReason(known: PushDeviceState): ReasonToRegister {
  return isKeyRefused(known) ? 'key-refused' : 'failed';
}

function isSameToken(left: PushToken, right: PushToken): boolean {
  return appOf(left) === appOf(right) && left.token === right.token;
}

function appOf(token: PushToken): string {
  return token.tokenKind === 'fcm'
    ? 'fcm'
    : `apns ${token.iosAppId} ${token.apnsEnvironment ?? 'production'}`;
}
