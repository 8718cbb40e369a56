import {
  decodeCiphertextBase64,
  type PushAccountId,
  parseJsonOrUndefined,
  parsePushAccountId,
} from '@waxwing/protocol/phone';

/**
 * A push as the phone's system delivers it: the `data` of an FCM message (all values are strings), the user info of an
 * APNs notification, or either as JSON text. Platforms that parse APNs JSON into doubles round `push_account_id`.
 * There, pass the raw text, or the id as string or `bigint`.
 */
export type ReceivedPush = string | Readonly<Record<string, unknown>>;

/** The two relevant fields of a push, or why they are unusable. */
export type ParsedPush =
  | { readonly kind: 'encrypted'; readonly pushAccountId: PushAccountId; readonly sealed: Uint8Array }
  | { readonly kind: 'rounded-account-id' }
  | { readonly kind: 'not-encrypted-push' };

/** Parses an untrusted push; never throws. */
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
