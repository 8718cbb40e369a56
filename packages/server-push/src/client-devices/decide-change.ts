import { decodePushKey, type ProtocolError, readTokenId, type TokenId } from '@waxwing/protocol';
import type { ClientDeviceRow, SeenColumns } from './client-device-state.js';
import { alreadyInProgress, invalidPushKey, invalidTokenId, nothingToRotate } from './device-refusals.js';
import { withFormerKey } from './freed-tokens.js';
import type { PushChange, SentKey, SentToken } from './push-change.js';

/** The columns that a phone's change can set. */
export type ChangeableColumns = SeenColumns &
  Pick<
    ClientDeviceRow,
    | 'push_key'
    | 'former_push_keys'
    | 'pending_push_token_kind'
    | 'pending_bouncer_public_key'
    | 'pending_encrypted_registration'
    | 'generation'
  >;

export type Decision =
  | { readonly kind: 'refused'; readonly error: ProtocolError }
  /** The device already has this key and token. */
  | { readonly kind: 'unchanged' }
  | ChangedDevice;

interface ChangedDevice {
  readonly kind: 'changed';
  readonly columns: Partial<ChangeableColumns>;
  /** The changed fields that clients see. */
  readonly seen: Partial<SeenColumns>;
  /** Whether the change includes a token that the relay must decide on. */
  readonly isToForward: boolean;
}

/**
 * Age from which sending the same token again updates its date. Phones renew tokens after 30 days: if the date did not
 * change, they would renew at every start.
 */
const renewalAfterMilliseconds = 24 * 60 * 60_000;

/**
 * Decides how a phone's requested change affects its device. Refuses the same changes as stock servers, and checks them
 * in the same order. `now` is in Unix milliseconds.
 */
export function decideChange(row: ClientDeviceRow, change: PushChange, now: number): Decision {
  if (change.kind === 'key') return decideKey(row, change.key, now);
  if (row.pending_push_token_id !== null && row.push_registration_error_code === null) {
    return refuse(alreadyInProgress());
  }
  const tokenId = readTokenId(change.token.tokenId);
  if (tokenId === undefined) return refuse(invalidTokenId());
  if (change.kind === 'token') return decideToken(row, change.token, tokenId, now);
  const { key, token } = change;
  if (decodePushKey(key.key) === undefined) return refuse(invalidPushKey());
  const isSame = isSameKey(row, key) && row.push_token_kind === token.kind;
  if (isSame && isCurrentToken(row, tokenId, now)) return { kind: 'unchanged' };
  const pending = pendingToken(row, token, tokenId, now);
  return {
    ...pending,
    columns: { ...pending.columns, ...keyColumns(row, key, now) },
    seen: { ...pending.seen, push_key_id: key.id },
  };
}

function decideKey(row: ClientDeviceRow, key: SentKey, now: number): Decision {
  if (row.push_key_id === null) return refuse(nothingToRotate('key'));
  if (decodePushKey(key.key) === undefined) return refuse(invalidPushKey());
  if (isSameKey(row, key)) return { kind: 'unchanged' };
  return {
    kind: 'changed',
    columns: keyColumns(row, key, now),
    seen: { push_key_id: key.id },
    isToForward: false,
  };
}

function keyColumns(row: ClientDeviceRow, key: SentKey, now: number): Partial<ChangeableColumns> {
  const former_push_keys = row.push_key_id === key.id ? row.former_push_keys : withFormerKey(row, now);
  return { push_key_id: key.id, push_key: key.key, former_push_keys };
}

function decideToken(row: ClientDeviceRow, token: SentToken, tokenId: TokenId, now: number): Decision {
  if (row.push_key_id === null) return refuse(nothingToRotate('token'));
  if (isCurrentToken(row, tokenId, now)) return { kind: 'unchanged' };
  return pendingToken(row, token, tokenId, now);
}

/** Makes a token pending. The active token stays until the relay has confirmed the pending token. */
function pendingToken(row: ClientDeviceRow, token: SentToken, tokenId: TokenId, now: number): ChangedDevice {
  const seen = {
    pending_push_token_id: tokenId,
    push_token_updated_at: now,
    push_registration_error_code: null,
  };
  const columns = {
    ...seen,
    pending_push_token_kind: token.kind,
    pending_bouncer_public_key: token.bouncerPublicKey,
    pending_encrypted_registration: token.encryptedPushRegistration,
    generation: row.generation + 1,
  };
  return { kind: 'changed', columns, seen, isToForward: true };
}

function isSameKey(row: ClientDeviceRow, { id, key }: SentKey): boolean {
  return row.push_key_id === id && row.push_key === key;
}

/** Whether the token is active and was registered less than a day ago. */
function isCurrentToken(row: ClientDeviceRow, tokenId: TokenId, now: number): boolean {
  if (row.push_registration_error_code !== null || row.push_token_id !== tokenId) return false;
  return now - (row.push_token_updated_at ?? 0) <= renewalAfterMilliseconds;
}

function refuse(error: ProtocolError): Decision {
  return { kind: 'refused', error };
}
