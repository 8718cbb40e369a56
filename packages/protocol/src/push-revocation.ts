import { isJsonObject, parseJsonOrUndefined } from './json.js';
import { maximumTokenCodePoints } from './limits.js';
import { padWithSpaces } from './pad-with-spaces.js';
import { formatPushAccountId, type PushAccountId, parsePushAccountId } from './push-account-id.js';
import { parseTokenId, type TokenId } from './token-id.js';
import { decodeUtf8 } from './utf8.js';
import { parseUuid } from './uuid.js';

/** Path of the server's operation that forwards a sealed revocation to its relay. Stock servers respond with 404. */
export const revokePushPath = '/api/v1/mobile_push/revoke';

/** Path of the relay's operation that accepts a sealed revocation. Stock relays respond with 404. */
export const relayRevokePath = '/api/v1/remotes/push/e2ee/revoke';

/**
 * The plaintext that a client seals for the relay to revoke registrations (docs/protocol.md#sealed-revocation). It
 * contains the account, the token's id, or both. A relay never accepts a revocation as a registration or vice versa.
 */
export interface PushRevocation {
  /** The token, exactly as in the registrations. Proves that the client knows the token. */
  readonly token: string;
  /** UUID of the organization. */
  readonly realmUuid: string;
  /** Selects registrations of the older generation. */
  readonly pushAccountId?: PushAccountId;
  /** Selects registrations of the newer generation. */
  readonly tokenId?: TokenId;
  /**
   * Unix seconds, according to the clock that the client follows. Revokes only registrations with this or an earlier
   * timestamp.
   */
  readonly timestamp: number;
}

/** Encodes a revocation as JSON bytes, padded like a registration and ready to seal. Peers ignore the nonce. */
export function encodePushRevocation(revocation: PushRevocation, nonce: string): Uint8Array {
  const { token, realmUuid, pushAccountId, tokenId, timestamp } = revocation;
  const wire = {
    revoked_token: token,
    realm_uuid: realmUuid,
    // Encoded as a string, because JSON parsers round 64-bit numbers.
    push_account_id: pushAccountId === undefined ? undefined : formatPushAccountId(pushAccountId),
    token_id: tokenId,
    timestamp,
    nonce,
  };
  return padWithSpaces(new TextEncoder().encode(JSON.stringify(wire)));
}

/**
 * Parses the decrypted bytes of a sealed revocation. Ignores unknown fields. Returns `undefined` if the bytes are
 * invalid.
 */
export function parsePushRevocation(bytes: Uint8Array): PushRevocation | undefined {
  const text = decodeUtf8(bytes);
  const fields = text === undefined ? undefined : parseJsonOrUndefined(text, JSON.parse);
  if (!isJsonObject(fields)) return undefined;
  const { revoked_token: token, timestamp } = fields;
  const realmUuid = parseUuid(fields.realm_uuid);
  const pushAccountId = fields.push_account_id == null ? null : parsePushAccountId(fields.push_account_id);
  const tokenId = fields.token_id == null ? null : parseTokenId(fields.token_id);
  if (typeof token !== 'string' || token.length === 0 || token.length > 2 * maximumTokenCodePoints)
    return undefined;
  if (typeof timestamp !== 'number' || !Number.isSafeInteger(timestamp)) return undefined;
  if (realmUuid === undefined || pushAccountId === undefined || tokenId === undefined) return undefined;
  if (pushAccountId === null && tokenId === null) return undefined;
  return {
    token,
    realmUuid,
    timestamp,
    ...(pushAccountId === null ? {} : { pushAccountId }),
    ...(tokenId === null ? {} : { tokenId }),
  };
}
