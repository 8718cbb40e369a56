import { requireWebPushToken } from './web-push-token.js';

/**
 * Validates a push token at run time, for callers without types.
 *
 * @throws RangeError naming the wrong field. The message never contains the token.
 */
export function requirePushToken(given: unknown): void {
  if (typeof given !== 'object' || given === null) {
    const what = typeof given === 'string' ? 'a bare string' : String(given);
    throw new RangeError(
      `pushToken must return an object such as { tokenKind: 'fcm', token: '…' }, or undefined while there is none, but returned ${what}.`,
    );
  }
  const { tokenKind, token, iosAppId, apnsEnvironment } = given as Readonly<Record<string, unknown>>;
  if (tokenKind !== 'fcm' && tokenKind !== 'apns' && tokenKind !== 'webpush') {
    throw new RangeError(
      `pushToken.tokenKind must be 'fcm', 'apns' or 'webpush', but is ${shown(tokenKind)}.`,
    );
  }
  if (typeof token !== 'string' || token === '') {
    throw new RangeError(
      'pushToken.token is missing: it must be the string that the phone’s system returned.',
    );
  }
  if (tokenKind === 'fcm') {
    requireFcmToken(token);
    return;
  }
  if (tokenKind === 'webpush') {
    requireWebPushToken(token);
    return;
  }
  if (typeof iosAppId !== 'string' || iosAppId === '') {
    throw new RangeError(
      'pushToken.iosAppId is missing: it must be the bundle id of the app, such as com.example.chat.',
    );
  }
  if (apnsEnvironment !== undefined && apnsEnvironment !== 'production' && apnsEnvironment !== 'sandbox') {
    throw new RangeError(
      `pushToken.apnsEnvironment must be 'production' or 'sandbox', but is ${shown(apnsEnvironment)}.`,
    );
  }
}

/** Patterns of strings that apps mistakenly pass as an FCM token, each with a description and a remedy. */
const otherTexts: readonly (readonly [RegExp, string])[] = [
  [/^Expo(nent)?PushToken\[/, 'an Expo push token: use the token from getDevicePushTokenAsync'],
  [
    /^(?:[0-9a-f]{64,}|<[0-9a-f ]+>|[0-9a-f]{8}(?: [0-9a-f]{8}){7,})$/i,
    "an APNs token: use tokenKind 'apns', or use the Firebase token",
  ],
  // https://developer.apple.com/documentation/foundation/nsdata/description
  [
    /^\{ ?length ?= ?\d+, ?bytes ?=/,
    "the description of an APNs token: use tokenKind 'apns' with its bytes as hexadecimal digits",
  ],
  [/^[\w+/-]{43}=$/, 'base64 of 32 bytes, such as an APNs token or a key: use the token from getToken'],
  [
    /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
    'a UUID, such as the id of the phone in another push service: use the token from getToken',
  ],
  [/^\d+:\d+:[a-z]+:[0-9a-f]+$/, 'the id of a Firebase app: use the token from getToken'],
  [/^AIza[\w-]{35}$/, 'a Google API key: use the token from getToken'],
  [/^B[\w-]{86}$/, 'a VAPID key: use the token from getToken'],
  [/^eyJ[\w-]+\.[\w-]+\.[\w-]+$/, 'a JWT, such as a Firebase ID token: use the token from getToken'],
  [
    /^[a-z][a-z0-9+.-]*:\/\//i,
    'a URL, such as the endpoint of a Web Push subscription: use fromPushSubscription, or use the Firebase token',
  ],
  [/^\{"endpoint"/, 'a Web Push subscription: use fromPushSubscription'],
  [/^[{"]/, 'JSON: use only the token inside, exactly as Firebase returned it'],
  [/^arn:/, 'an Amazon SNS name: use the Firebase token that it was created from'],
  [
    /^(undefined|null|NaN|true|false|\[object .*\])$/,
    'another value converted to a string: await the token, and return undefined while there is none',
  ],
  [/^\s|\s$/, 'surrounded by white space: pass it exactly as Firebase returned it'],
  [/[^!-~]/, 'damaged: it contains white space or characters other than ASCII'],
];

/**
 * Rejects strings that are known not to be FCM tokens. Accepts all others, because the format of FCM tokens is not
 * documented.
 */
function requireFcmToken(token: string): void {
  const other = otherTexts.find(([pattern]) => pattern.test(token));
  if (other !== undefined) throw new RangeError(`pushToken.token for FCM is ${other[1]}.`);
}

function shown(value: unknown): string {
  return typeof value === 'string' ? `'${value.slice(0, 40)}'` : String(value);
}
