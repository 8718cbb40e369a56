import { isJsonObject, type JsonObject, parseJsonOrUndefined } from './json.js';
import { maximumIosAppIdCharacters, maximumTokenCodePoints, registrationSizeBucketsBytes } from './limits.js';
import { formatPushAccountId, type PushAccountId, parsePushAccountId } from './push-account-id.js';
import { decodeUtf8 } from './utf8.js';
import { parseUuid } from './uuid.js';

export type TokenKind = 'fcm' | 'apns';
export type ApnsEnvironment = 'production' | 'sandbox';

/** What a client seals to the relay: the token and what the relay must know to use it. */
export type PushRegistration = {
  /** Unix seconds, by the clock that the client follows. */
  readonly timestamp: number;
  /** UUID of the organisation that the registration is for; an extension that stock peers ignore. */
  readonly audience?: string;
  /** The phone's account that the registration is for; an extension that stock peers ignore, as the next one. */
  readonly pushAccountId?: PushAccountId;
  /**
   * Grows with every registration that a phone seals for one account, so that a relay refuses an older one after a
   * later one; the instant of sealing in Unix milliseconds, or one more than the last where that is greater.
   */
  readonly sequence?: number;
} & PushTarget;

/** Where a notification goes. `token` is kept exactly as the phone's system gave it. */
export type PushTarget =
  | { readonly tokenKind: 'fcm'; readonly token: string }
  | {
      readonly tokenKind: 'apns';
      readonly token: string;
      /** The app's bundle id: the APNs topic. */
      readonly iosAppId: string;
      /** Which of Apple's two systems issued the token; production where a client does not say. */
      readonly apnsEnvironment: ApnsEnvironment;
    };

const whitespace = '[\\t\\n\\v\\f\\r ]*';
// Hexadecimal as the stock relay's parser takes it: whole bytes, ASCII whitespace only between them.
const hexToken = new RegExp(`^${whitespace}(?:[0-9A-Fa-f]{2}${whitespace})+$`);
const iosAppIdPattern = /^[.a-zA-Z0-9-]+$/;
const integerLikeText = /^[\t\n\v\f\r ]*[+-]?\d+(?:\.0*)?[\t\n\v\f\r ]*$/;

/**
 * Reads the opened bytes of a sealed registration (docs/protocol.md#registration).
 * Unknown fields are ignored. `undefined` for everything that is not a valid registration.
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
  if (tokenKind !== 'apns' || iosAppId === null || !hexToken.test(token)) return undefined;
  return { tokenKind, token, ...binding, iosAppId, apnsEnvironment };
}

/** What the registration is bound to; each of the extensions may be missing or null. */
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

// Stock relays validate leniently: integral floats, numeric text and `true` count as integers.
function parseTimestamp(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isInteger(value) ? value : undefined;
  if (typeof value === 'boolean') return Number(value);
  return typeof value === 'string' && integerLikeText.test(value) ? Number(value) : undefined;
}

/** `null` when there is none, `undefined` when it is wrong. */
function parseIosAppId(value: unknown): string | null | undefined {
  if (value == null) return null;
  if (typeof value !== 'string' || value.length > maximumIosAppIdCharacters) return undefined;
  return iosAppIdPattern.test(value) ? value : undefined;
}

function parseApnsEnvironment(value: unknown): ApnsEnvironment | undefined {
  if (value == null) return 'production';
  return value === 'production' || value === 'sandbox' ? value : undefined;
}

export interface EncodingExtensions {
  /** Makes two registrations of the same token differ; peers ignore it. */
  readonly nonce?: string;
  /** Pads with trailing spaces to a size of `registrationSizeBucketsBytes`, so that the length tells little. */
  readonly padded?: boolean;
}

/** The JSON bytes of a registration, ready to be sealed; field order and omissions as stock clients write them. */
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
  // As text, since parsers of JSON round a number of 64 bits.
  if (accountId !== undefined) wire.push_account_id = formatPushAccountId(accountId);
  if (registration.sequence !== undefined) wire.sequence = registration.sequence;
  if (nonce !== undefined) wire.nonce = nonce;
  const bytes = new TextEncoder().encode(JSON.stringify(wire));
  return padded ? padWithSpaces(bytes) : bytes;
}

function padWithSpaces(bytes: Uint8Array): Uint8Array {
  const size = registrationSizeBucketsBytes.find((bucket) => bucket >= bytes.length) ?? bytes.length;
  const padded = new Uint8Array(size).fill(0x20);
  padded.set(bytes);
  return padded;
}

/** The hexadecimal digits of an APNs token without whitespace, as APNs wants them in its path. */
export function compactApnsToken(token: string): string {
  return token.replace(/[\t\n\v\f\r ]+/g, '');
}

function parseObject(bytes: Uint8Array): JsonObject | undefined {
  const text = decodeUtf8(bytes);
  if (text === undefined) return undefined;
  const value = parseJsonOrUndefined(text, JSON.parse);
  return isJsonObject(value) ? value : undefined;
}

// A lone surrogate has no UTF-8, and PostgreSQL stores no NUL: neither can be handed to a vendor as it came.
// The class is not `\p{Surrogate}`, which older Hermes engines cannot compile.
const unstorable = /[\0\ud800-\udfff]/u;

function isToken(token: string): boolean {
  if (token.length === 0 || token.length > 2 * maximumTokenCodePoints || unstorable.test(token)) return false;
  return token.length <= maximumTokenCodePoints || [...token].length <= maximumTokenCodePoints;
}
