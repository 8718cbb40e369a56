import { isJsonObject, type JsonObject, parseJsonOrUndefined } from './json.js';
import { maximumIosAppIdCharacters, maximumTokenCodePoints } from './limits.js';
import { padWithSpaces } from './pad-with-spaces.js';
import { formatPushAccountId, type PushAccountId, parsePushAccountId } from './push-account-id.js';
import { decodeUtf8 } from './utf8.js';
import { parseUuid } from './uuid.js';
import { parseWebPushToken } from './web-push-token.js';

/**
 * The vendor of a push token: Firebase Cloud Messaging, the Apple Push Notification service, or the push service of a
 * Web Push subscription (including UnifiedPush).
 */
export const tokenKinds = ['fcm', 'apns', 'webpush'] as const;
export type TokenKind = (typeof tokenKinds)[number];
/** Apple's two push systems: `sandbox` is for development builds. */
export type ApnsEnvironment = 'production' | 'sandbox';

/**
 * The plaintext that a client seals to the relay: the token and the data that the relay needs to use it
 * (docs/protocol.md#sealed-registration).
 */
export type PushRegistration = {
  /**
   * Unix seconds, according to the clock that the client follows. The relay refuses a registration that is more than a
   * day old.
   */
  readonly timestamp: number;
  /** UUID of the organization that the registration is for. An extension that stock peers ignore. */
  readonly audience?: string;
  /** The account on the phone that the registration is for. Like `sequence`, an extension that stock peers ignore. */
  readonly pushAccountId?: PushAccountId;
  /**
   * Increases with every registration that a phone seals for the same account, so that a relay can reject replays of
   * older registrations. It is the sealing time in Unix milliseconds, or the previous sequence plus 1 if that is
   * greater.
   */
  readonly sequence?: number;
} & PushTarget;

/**
 * Push target of a device. `token` is exactly the string that the phone's operating system returned or, for `webpush`,
 * the string that `encodeWebPushToken` returns.
 */
export type PushTarget =
  | { readonly tokenKind: 'fcm'; readonly token: string }
  | { readonly tokenKind: 'webpush'; readonly token: string }
  | {
      readonly tokenKind: 'apns';
      readonly token: string;
      /** The app's bundle id, used as the APNs topic. */
      readonly iosAppId: string;
      /** The one of Apple's two push systems that issued the token; `production` if the client did not specify one. */
      readonly apnsEnvironment: ApnsEnvironment;
    };

const whitespace = '[\\t\\n\\v\\f\\r ]*';
// The hexadecimal format that the stock relay's parser accepts: whole bytes, with optional ASCII whitespace between
// bytes.
const hexToken = new RegExp(`^${whitespace}(?:[0-9A-Fa-f]{2}${whitespace})+$`);
const iosAppIdPattern = /^[.a-zA-Z0-9-]+$/;
const integerLikeText = /^[\t\n\v\f\r ]*[+-]?\d+(?:\.0*)?[\t\n\v\f\r ]*$/;

/**
 * Parses the decrypted bytes of a sealed registration (docs/protocol.md#registration). Ignores unknown fields. Returns
 * `undefined` if the registration is invalid.
 */
export function parsePushRegistration(bytes: Uint8Array): PushRegistration | undefined {
  const fields = parseObject(bytes);
  if (fields === undefined) return undefined;
  const { token, token_kind: tokenKind } = fields;
  const binding = parseBinding(fields);
  const iosAppId = parseIosAppId(fields.ios_app_id);
  const apnsEnvironment = parseApnsEnvironment(fields.apns_environment);
  if (typeof token !== 'string' || !isToken(token) || binding === undefined) return undefined;
  if (iosAppId === undefined || apnsEnvironment === undefined) return undefined;
  if (tokenKind === 'fcm') return iosAppId === null ? { tokenKind, token, ...binding } : undefined;
  if (tokenKind === 'webpush') {
    return iosAppId === null && parseWebPushToken(token) ? { tokenKind, token, ...binding } : undefined;
  }
  if (tokenKind !== 'apns' || iosAppId === null || !hexToken.test(token)) return undefined;
  return { tokenKind, token, ...binding, iosAppId, apnsEnvironment };
}

/**
 * Parses the fields that bind the registration to its context. All fields except the timestamp are extensions, and may
 * be missing or null.
 */
function parseBinding(
  fields: JsonObject,
): Pick<PushRegistration, 'timestamp' | 'audience' | 'pushAccountId' | 'sequence'> | undefined {
  const timestamp = parseTimestamp(fields.timestamp);
  const audience = fields.audience == null ? null : parseUuid(fields.audience);
  const accountId = fields.push_account_id == null ? null : parsePushAccountId(fields.push_account_id);
  const sequence = fields.sequence == null ? null : parseSequence(fields.sequence);
  if (timestamp === undefined || audience === undefined) return undefined;
  if (accountId === undefined || sequence === undefined) return undefined;
  return {
    timestamp,
    ...(audience === null ? {} : { audience }),
    ...(accountId === null ? {} : { pushAccountId: accountId }),
    ...(sequence === null ? {} : { sequence }),
  };
}

function parseSequence(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

// Stock relays validate leniently: integral floats, numeric strings and booleans count as integers.
function parseTimestamp(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isInteger(value) ? value : undefined;
  if (typeof value === 'boolean') return Number(value);
  return typeof value === 'string' && integerLikeText.test(value) ? Number(value) : undefined;
}

/** Returns `null` if the id is absent, and `undefined` if it is invalid. */
function parseIosAppId(value: unknown): string | null | undefined {
  if (value == null) return null;
  if (typeof value !== 'string' || value.length > maximumIosAppIdCharacters) return undefined;
  return iosAppIdPattern.test(value) ? value : undefined;
}

function parseApnsEnvironment(value: unknown): ApnsEnvironment | undefined {
  if (value == null) return 'production';
  return value === 'production' || value === 'sandbox' ? value : undefined;
}

/** Optional extensions of {@link encodePushRegistration}. */
export interface EncodingExtensions {
  /** Ensures that two registrations of the same token differ. Peers ignore this field. */
  readonly nonce?: string;
  /**
   * Whether to pad with trailing spaces to a size in `registrationSizeBucketsBytes`, so that the length reveals little.
   */
  readonly padded?: boolean;
}

/** Encodes a registration as JSON bytes, ready to seal. Orders and omits fields as stock clients do. */
export function encodePushRegistration(
  registration: PushRegistration,
  { nonce, padded = false }: EncodingExtensions = {},
): Uint8Array {
  const { tokenKind, token, timestamp } = registration;
  const wire: Record<string, unknown> = { token_kind: tokenKind, token, timestamp };
  if (registration.tokenKind === 'apns') {
    wire.ios_app_id = registration.iosAppId;
    if (registration.apnsEnvironment === 'sandbox') wire.apns_environment = 'sandbox';
  }
  if (registration.audience !== undefined) wire.audience = registration.audience;
  const { pushAccountId: accountId } = registration;
  // Encoded as a string, because JSON parsers round 64-bit numbers.
  if (accountId !== undefined) wire.push_account_id = formatPushAccountId(accountId);
  if (registration.sequence !== undefined) wire.sequence = registration.sequence;
  if (nonce !== undefined) wire.nonce = nonce;
  const bytes = new TextEncoder().encode(JSON.stringify(wire));
  return padded ? padWithSpaces(bytes) : bytes;
}

/** Removes whitespace from a hexadecimal APNs token, for use in the path of an APNs request. */
export function compactApnsToken(token: string): string {
  return token.replace(/[\t\n\v\f\r ]+/g, '');
}

function parseObject(bytes: Uint8Array): JsonObject | undefined {
  const text = decodeUtf8(bytes);
  if (text === undefined) return undefined;
  const value = parseJsonOrUndefined(text, JSON.parse);
  return isJsonObject(value) ? value : undefined;
}

// UTF-8 cannot encode lone surrogates, and PostgreSQL cannot store NUL, so neither could reach a vendor unchanged. The
// pattern does not use `\p{Surrogate}`, because older Hermes engines cannot compile it.
const unstorable = /[\0\ud800-\udfff]/u;

function isToken(token: string): boolean {
  if (token.length === 0 || token.length > 2 * maximumTokenCodePoints || unstorable.test(token)) return false;
  return token.length <= maximumTokenCodePoints || [...token].length <= maximumTokenCodePoints;
}
