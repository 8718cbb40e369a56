import {
  decodeCiphertextBase64,
  type PushAccountId,
  parseJsonOrUndefined,
  parsePushAccountId,
} from '@waxwing/protocol/phone';

/**
 * What the phone's system hands to the app: the `data` of an FCM message (all values are text), the user info of an APNs
 * notification, or either as JSON text. A platform that parses APNs JSON into doubles rounds `push_account_id`: hand
 * over the raw text there, or the id as text or `bigint`.
 */
export type ReceivedPush = string | Readonly<Record<string, unknown>>;

/** The two fields that matter of a push, or why they cannot be used. */
export type ParsedPush =
  | { readonly kind: 'encrypted'; readonly pushAccountId: PushAccountId; readonly sealed: Uint8Array }
  | { readonly kind: 'rounded-account-id' }
  | { readonly kind: 'not-encrypted-push' };

/** Reads a push from outside; whatever it is, this does not throw. */
export function parseReceivedPush(received: unknown): ParsedPush {
  const { push_account_id: id, encrypted_data: data } = fieldsOf(received);
  if (typeof id === 'number' && Number.isInteger(id) && !Number.isSafeInteger(id)) {
    return { kind: 'rounded-account-id' };
  }
  const pushAccountId = parsePushAccountId(id);
  const sealed = typeof data === 'string' ? decodeCiphertextBase64(data) : undefined;
  if (pushAccountId === undefined || sealed === undefined) return { kind: 'not-encrypted-push' };
  return { kind: 'encrypted', pushAccountId, sealed };
}

function fieldsOf(received: unknown): {
  readonly push_account_id?: unknown;
  readonly encrypted_data?: unknown;
} {
  const value = typeof received === 'string' ? parseJsonOrUndefined(received) : received;
  return typeof value === 'object' && value !== null ? value : {};
}
