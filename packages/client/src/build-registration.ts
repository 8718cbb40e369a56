import {
  type ApnsEnvironment,
  encodePushRegistration,
  type PushAccountId,
  type PushRegistration,
  parsePushRegistration,
} from '@waxwing/protocol/phone';
import { requirePushToken } from './require-push-token.js';

/** What the phone's system gave the app. The token is never changed on its way, not even its letter case. */
export type PushToken =
  | { readonly tokenKind: 'fcm'; readonly token: string }
  | {
      readonly tokenKind: 'apns';
      readonly token: string;
      /** The app's bundle id, such as `com.example.chat`. */
      readonly iosAppId: string;
      /** `sandbox` for builds that Xcode installs; `production` by default. */
      readonly apnsEnvironment?: ApnsEnvironment;
    };

export interface RegistrationBinding {
  /** Unix seconds by the clock that the phone follows; the relay refuses the registration a day later. */
  readonly timestamp: number;
  /** UUID of the organisation: a relay that knows the field refuses the registration for any other one. */
  readonly audience?: string | undefined;
  /** The account that it is for: a relay that knows the field refuses it for any other one. */
  readonly pushAccountId?: PushAccountId | undefined;
  /** Greater than that of every registration that was sealed for the account before; see `PushRegistration`. */
  readonly sequence?: number | undefined;
}

/**
 * The registration that is sealed for the relay.
 * @throws RangeError when the relay would refuse the token: empty, too long, or for APNs not hexadecimal or without
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
        ? 'pushToken.token of APNs must be hexadecimal digits, and pushToken.iosAppId the bundle id of the app.'
        : 'pushToken.token of FCM must be 1 to 4096 characters, exactly as Firebase gave it.',
    );
  }
  return registration;
}
