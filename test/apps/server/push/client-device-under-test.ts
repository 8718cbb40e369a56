import { createHash } from 'node:crypto';
import {
  type ClientDeviceId,
  decodeBase64,
  encodeBase64,
  encodePushKey,
  parseNotification,
  tokenIdFromDigest,
} from '@waxwing/protocol';
import { loadWasmSodium } from '@waxwing/sodium';
import type { RelayReaction, RelayRequest } from '../../../support/relay-stand-in.js';
import type { Account, ServerUnderTest } from '../server-under-test.js';

const sodium = await loadWasmSodium();
export const bouncerPublicKey = encodeBase64(sodium.generateKeyPair().publicKey);

/** The id of a token, as a phone names it. */
export function tokenIdOf(token: string): string {
  return tokenIdFromDigest(createHash('sha256').update(token).digest());
}

/** The key group of `POST /mobile_push/register`. */
export function keyFields(id: number, key: Uint8Array = sodium.randomBytes(32)) {
  return { push_key_id: String(id), push_key: encodePushKey(key) };
}

/** The token group of `POST /mobile_push/register`. */
export function tokenFields(token: string, kind: 'fcm' | 'apns' = 'fcm') {
  return {
    token_kind: kind,
    token_id: tokenIdOf(token),
    bouncer_public_key: bouncerPublicKey,
    encrypted_push_registration: encodeBase64(
      Buffer.from(`a sealed registration of ${token}, which is long enough`),
    ),
  };
}

/** Creates a device, and returns its id. */
export async function createDevice(test: ServerUnderTest, account: Account): Promise<ClientDeviceId> {
  const { body } = await test.ask(account, 'POST', 'register_client_device');
  return body.device_id as ClientDeviceId;
}

/** `devices` of the user's first answer. */
export async function devicesOf(test: ServerUnderTest, account: Account): Promise<Record<string, unknown>> {
  const { body } = await test.ask(account, 'POST', 'register', {
    event_types: '[]',
    fetch_event_types: '["device"]',
  });
  return body.devices as Record<string, unknown>;
}

/** A relay's success of a registration of the newer generation. */
export const tokenRegistered: RelayReaction = { status: 200, body: { result: 'success', msg: '' } };

/** A relay's answer to a notify request with tokens only; `dead` are those that it no longer knows. */
export function tokensNotified(dead: readonly string[] = []): RelayReaction {
  const body = {
    result: 'success',
    msg: '',
    android_successfully_sent_count: 1,
    apple_successfully_sent_count: 0,
    delete_token_ids: dead,
    realm_push_status: { can_push: true, expected_end_timestamp: null },
  };
  return { status: 200, body };
}

/** One entry of a notify request of the newer generation. */
export interface SentEntry {
  readonly token_id?: string;
  readonly device_id?: number;
  readonly fcm_priority?: string;
  readonly http_headers?: object;
  readonly payload: {
    readonly push_key_id: number;
    readonly encrypted_data: string;
    readonly aps?: object;
  };
}

/** The entries of the notify requests that a relay received, one list for each request. */
export function entriesOf(requests: readonly RelayRequest[]): SentEntry[][] {
  return requests
    .filter(({ path }) => path.endsWith('/notify'))
    .map(({ body }) => (JSON.parse(body) as { push_requests: SentEntry[] }).push_requests);
}

/** Opens an entry with a phone's key: a nonce of 24 bytes, then the secret box. */
export function openEntry({ payload }: SentEntry, pushKey: string) {
  const [sealed, key] = [decodeBase64(payload.encrypted_data), decodeBase64(pushKey)?.subarray(1)];
  if (sealed === undefined || key === undefined) throw new Error('neither may be anything but base64');
  const opened = sodium.openSecretBox(sealed.subarray(24), sealed.subarray(0, 24), key);
  return {
    bytes: opened?.length,
    nonce: encodeBase64(sealed.subarray(0, 24)),
    notification: opened && parseNotification(opened),
  };
}
