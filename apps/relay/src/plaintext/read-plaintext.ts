import {
  compactApnsToken,
  type JsonObject,
  type JsonValue,
  maximumIosAppIdCharacters,
  maximumTokenCodePoints,
  refused,
  stringifyJson,
  type TokenKind,
} from '@waxwing/protocol';
import type { UserAddressee } from '../registrations/store/addressee.js';

/** A user, identified by UUID or by the server's own user id. */
export interface PlaintextUser {
  /** The name under which the relay stores the user's devices. */
  readonly name: UserAddressee;
  /** All names of the user. A server identifies a user by id before it is upgraded, and by UUID afterward. */
  readonly names: readonly UserAddressee[];
}

export interface PlaintextToken {
  readonly kind: TokenKind;
  /** APNs tokens are in lowercase, because they are hexadecimal and compared case-insensitively. */
  readonly token: string;
}

/** Reads the user of a request. @throws ProtocolError BAD_REQUEST if the request has neither a UUID nor an id. */
export function readPlaintextUser(fields: {
  readonly user_uuid?: string | null | undefined;
  readonly user_id?: number | null | undefined;
}): PlaintextUser {
  const ids = [fields.user_uuid, fields.user_id].filter((id) => id != null);
  const names = ids.map((id): UserAddressee => `user:${id}`);
  const [name] = names;
  if (name === undefined) throw refused('Missing user_id or user_uuid');
  return { name, names };
}

/** Length to which error messages truncate a quoted value. */
const maximumQuotedCharacters = 100;

const kindOfNumber: Readonly<Record<number, TokenKind>> = { 1: 'apns', 2: 'fcm' };

/** Reads the token of a request. @throws ProtocolError BAD_REQUEST with the same message as a stock relay. */
export function readPlaintextToken(fields: {
  readonly token: string;
  readonly token_kind: number;
}): PlaintextToken {
  const kind = kindOfNumber[fields.token_kind];
  if (kind === undefined) throw refused('Invalid token type');
  if (fields.token === '' || [...fields.token].length > maximumTokenCodePoints) {
    throw refused('Empty or invalid length token');
  }
  if (kind === 'fcm') return { kind, token: fields.token };
  const token = compactApnsToken(fields.token).toLowerCase();
  if (!/^(?:[0-9a-f]{2})+$/.test(token)) throw refused('Invalid APNS token');
  return { kind, token };
}

/**
 * Reads the priority in `gcm_options`; `undefined` if the server leaves the choice to the relay.
 * @throws ProtocolError BAD_REQUEST for any other priority or option.
 */
export function readGcmPriority({ priority, ...others }: JsonObject): 'high' | 'normal' | undefined {
  const isNone = priority === undefined || priority === null;
  if (!isNone && priority !== 'high' && priority !== 'normal') {
    throw refused(`Invalid GCM option to bouncer: priority ${inQuotes(priority)}`);
  }
  if (Object.keys(others).length > 0) {
    throw refused(
      `Invalid GCM options to bouncer: ${stringifyJson(others).slice(0, maximumQuotedCharacters)}`,
    );
  }
  return isNone ? undefined : priority;
}

function inQuotes(value: JsonValue): string {
  return `'${(typeof value === 'string' ? value : stringifyJson(value)).slice(0, maximumQuotedCharacters)}'`;
}

/** Reads the bundle id of an Apple device. @throws ProtocolError BAD_REQUEST if it is missing or invalid. */
export function readIosAppId({ kind }: PlaintextToken, iosAppId: string | undefined): string | undefined {
  if (kind === 'fcm') return undefined;
  if (iosAppId === undefined) throw refused('Missing ios_app_id');
  if (iosAppId.length > maximumIosAppIdCharacters || !/^[.a-zA-Z0-9-]+$/.test(iosAppId)) {
    throw refused('Invalid ios_app_id');
  }
  return iosAppId;
}
