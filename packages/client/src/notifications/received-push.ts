import {
  decodeCiphertextBase64,
  type PushAccountId,
  type PushKeyId,
  parseJsonOrUndefined,
  parsePushAccountId,
  parsePushKeyId,
} from '@waxwing/protocol/phone';

/**
 * A push as the phone's operating system delivers it: the `data` of an FCM message (all values are strings), the user
 * info of an APNs notification, or either of these as JSON text. Platforms that parse the numbers of APNs JSON as
 * doubles round `push_account_id`. On such platforms, pass the raw JSON text, or pass the id as a string or `bigint`.
 */
export type ReceivedPush = string | Readonly<Record<string, unknown>>;

/** The relevant fields of a push, or the reason why they are unusable. */
export type ParsedPush =
  | {
      readonly kind: 'sealed-to-account';
      readonly pushAccountId: PushAccountId;
      readonly ciphertext: Uint8Array;
    }
  | { readonly kind: 'sealed-with-key'; readonly pushKeyId: PushKeyId; readonly ciphertext: Uint8Array }
  | { readonly kind: 'rounded-account-id' }
  | { readonly kind: 'not-encrypted-push' };

/** Parses an untrusted push of either generation; never throws. */
export function parseReceivedPush(received: unknown): ParsedPush {
  const { push_account_id: accountId, push_key_id: keyId, encrypted_data: data } = fieldsOf(received);
  const ciphertext = typeof data === 'string' ? decodeCiphertextBase64(data) : undefined;
  const pushKeyId = parsePushKeyId(keyId);
  if (pushKeyId !== undefined && ciphertext !== undefined) {
    return { kind: 'sealed-with-key', pushKeyId, ciphertext };
  }
  if (typeof accountId === 'number' && Number.isInteger(accountId) && !Number.isSafeInteger(accountId)) {
    return { kind: 'rounded-account-id' };
  }
  const pushAccountId = parsePushAccountId(accountId);
  if (pushAccountId === undefined || ciphertext === undefined) return { kind: 'not-encrypted-push' };
  return { kind: 'sealed-to-account', pushAccountId, ciphertext };
}

function fieldsOf(received: unknown): {
  readonly push_account_id?: unknown;
  readonly push_key_id?: unknown;
  readonly encrypted_data?: unknown;
} {
  const value = typeof received === 'string' ? parseJsonOrUndefined(received) : received;
  return typeof value === 'object' && value !== null ? value : {};
}
