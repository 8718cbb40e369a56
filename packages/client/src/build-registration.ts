import {
  encodePushRegistration,
  type PushAccountId,
  type PushRegistration,
  parsePushRegistration,
} from '@waxwing/protocol/phone';
import type { PushToken } from './push-token.js';
import { requirePushToken } from './require-push-token.js';

/** The context that a registration is bound to: time, organization, account and sequence. */
export interface RegistrationBinding {
  /**
   * Unix seconds, according to the clock that the phone follows. The relay refuses registrations that are more than a
   * day old.
   */
  readonly timestamp: number;
  /** UUID of the organization. A relay that supports the field refuses the registration for any other organization. */
  readonly audience?: string | undefined;
  /** The push account. A relay that supports the field refuses the registration for any other account. */
  readonly pushAccountId?: PushAccountId | undefined;
  /** Greater than the sequence of every earlier registration of the account; see `PushRegistration`. */
  readonly sequence?: number | undefined;
}

/**
 * Builds the registration to be sealed for the relay (docs/protocol.md#sealed-registration).
 *
 * @throws RangeError for a token that the relay would refuse: empty, too long, or (for APNs) not hexadecimal or without
 * `iosAppId`.
 */
export function buildRegistration(
  pushToken: PushToken,
  { timestamp, audience, pushAccountId, sequence }: RegistrationBinding,
): PushRegistration {
  requirePushToken(pushToken);
  const bound = {
    timestamp,
    ...(audience === undefined ? {} : { audience }),
    ...(pushAccountId === undefined ? {} : { pushAccountId }),
    ...(sequence === undefined ? {} : { sequence }),
  };
  const registration: PushRegistration =
    pushToken.tokenKind === 'apns'
      ? { ...pushToken, apnsEnvironment: pushToken.apnsEnvironment ?? 'production', ...bound }
      : { ...pushToken, ...bound };
  if (parsePushRegistration(encodePushRegistration(registration)) === undefined) {
    throw new RangeError(
      pushToken.tokenKind === 'apns'
        ? 'pushToken.token for APNs must be hexadecimal digits, and pushToken.iosAppId must be the app’s bundle id.'
        : 'pushToken.token for FCM must be 1 to 4096 characters, exactly as Firebase returned it.',
    );
  }
  return registration;
}
