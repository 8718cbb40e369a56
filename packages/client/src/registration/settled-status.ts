import type { PushAccount } from '../accounts/push-account.js';
import type { SentRegistration } from '../accounts/sent-registration.js';
import type { BouncerKeyChoice, NoBouncerKey } from '../key-list/bouncer-key-choice.js';
import type { FollowedTime } from '../time-to-follow.js';
import type { RegistrarContext } from './registrar-context.js';
import { type RegistrationStatus, registrationStatus } from './registration-status.js';
import { clockWarning } from './registration-time.js';
import { isKeyRefusal, repeatDelaySeconds } from './repeat-policy.js';
import { statusCodeOf } from './status-of-error.js';

const refusedKeyWarning =
  'The relay does not accept the bouncerPublicKey that is built into the app: it is retired, or belongs to another relay; compare it with the output of waxwing-relay keys export-public.';

/** The final state of a sync. */
export interface SettledRegistration {
  readonly context: RegistrarContext;
  readonly account: PushAccount;
  readonly verdict: 'active' | 'pending' | 'failed';
  readonly errorCode: string | undefined;
  /** The last registration that the server accepted. */
  readonly sent: SentRegistration | undefined;
  readonly key: BouncerKeyChoice | NoBouncerKey;
  readonly time: FollowedTime;
  /** An additional problem, for a log. */
  readonly warning?: string | undefined;
}

export function settledStatus(settled: SettledRegistration): RegistrationStatus {
  const { context, account, verdict, errorCode, key, time } = settled;
  const judged = verdict === 'failed' ? statusCodeOf(errorCode) : verdict;
  const isOwnKeyRefused = key.source === 'built-in' && isKeyRefusal(errorCode);
  const warnings = [
    key.warning,
    isOwnKeyRefused ? refusedKeyWarning : undefined,
    time.clocksAgree ? undefined : clockWarning(context),
    settled.warning,
  ];
  return registrationStatus(time.isServerTime ? judged : 'clock-wrong', {
    pushAccountId: account.pushAccountId,
    errorCode,
    retryAfterSeconds: verdict === 'failed' ? waitSeconds(settled) : undefined,
    keySource: key.source === 'none' ? undefined : key.source,
    warning: warnings.filter((warning) => warning !== undefined).join(' ') || undefined,
  });
}

/** Returns the number of seconds until a `sync` will repeat the registration, or `undefined` if there is no backoff. */
function waitSeconds({ sent, errorCode, key, time }: SettledRegistration): number | undefined {
  const usable = key.source === 'none' ? undefined : key;
  return repeatDelaySeconds({ sent, errorCode, key: usable, now: time.device }) || undefined;
}

/** Returns the status of an account for which no key is safe to seal to. */
export function noUsableKey({ pushAccountId }: PushAccount, { warning }: NoBouncerKey): RegistrationStatus {
  return registrationStatus('no-usable-key', { warning, pushAccountId });
}
