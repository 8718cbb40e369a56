import { randomBytes } from 'node:crypto';
import { sealSecretBox } from '../../support/noble-oracle.js';
import { RelayFailure } from './relay-requests.js';
import { refuse, type StockAnswer, type StockDevice } from './stock-devices.js';

/** A notification to one user, as in the server's queue. */
export interface StockNotification {
  readonly type: 'message' | 'remove' | 'test';
  readonly [field: string]: unknown;
}

export interface NotifyAnswer {
  readonly deleteTokenIds: readonly string[];
  readonly canPush: boolean;
  readonly expectedEnd: number | null;
}

const messageAps = { 'mutable-content': 1, alert: { title: 'New notification' }, sound: 'default' };
const removeAps = { 'mutable-content': 1 };

/** One element of a notify request. */
export function pushRequest(device: StockDevice, notification: StockNotification): object {
  const { tokenId: token_id, tokenKind, pushKey, pushKeyId: push_key_id } = device;
  if (pushKey === null) throw new TypeError('an active device has no push key');
  const nonce = randomBytes(24);
  const box = sealSecretBox(Buffer.from(JSON.stringify(notification)), nonce, pushKey.subarray(1));
  const payload = { push_key_id, encrypted_data: Buffer.concat([nonce, box]).toString('base64') };
  const isRemoval = notification.type === 'remove';
  if (tokenKind === 'fcm') {
    return { token_id, fcm_priority: isRemoval ? 'normal' : 'high', payload };
  }
  const http_headers = isRemoval
    ? { apns_priority: 5, apns_push_type: 'background' }
    : { apns_priority: 10, apns_push_type: 'alert' };
  return { token_id, http_headers, payload: { ...payload, aps: isRemoval ? removeAps : messageAps } };
}

/** Parses a response to a notify request. All four fields are required. */
export function readNotifyAnswer(body: Record<string, unknown>): NotifyAnswer {
  const { android_successfully_sent_count: android, apple_successfully_sent_count: apple } = body;
  const { delete_token_ids: ids, realm_push_status: status } = body;
  const isList = Array.isArray(ids) && ids.every((id) => typeof id === 'string' && isDecodable(id));
  if (!Number.isInteger(android) || !Number.isInteger(apple) || !isList) {
    throw new RelayFailure('unhandled', `an unexpected notify response: ${JSON.stringify(body)}`);
  }
  const { can_push: canPush, expected_end_timestamp: expectedEnd } = (status ?? {}) as Record<
    string,
    unknown
  >;
  if (typeof canPush !== 'boolean' || !(expectedEnd === null || Number.isInteger(expectedEnd))) {
    throw new RelayFailure('unhandled', `an unexpected realm status: ${JSON.stringify(status)}`);
  }
  return {
    deleteTokenIds: ids as string[],
    canPush,
    expectedEnd: expectedEnd as number | null,
  };
}

function isDecodable(tokenId: string): boolean {
  return Buffer.from(tokenId, 'base64').toString('base64') === tokenId;
}

/** The server's response to the user whose test notification failed. */
export function answerToUser(failure: RelayFailure): StockAnswer {
  if (failure.kind === 'connection') {
    const msg = 'Network error while connecting to Zulip push notification service.';
    return refuse(msg, 'FAILED_TO_CONNECT_BOUNCER', 502);
  }
  if (failure.kind === 'server') {
    const msg = 'Internal server error on Zulip push notification service, retry later.';
    return refuse(msg, 'INTERNAL_SERVER_ERROR_ON_BOUNCER', 502);
  }
  if (!failure.needsAdministrator) return refuse(failure.message);
  const msg =
    'Push notification configuration issue on server, contact the server administrator or retry later.';
  return refuse(msg, 'ADMIN_ACTION_REQUIRED', 403);
}
