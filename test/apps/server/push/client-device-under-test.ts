import { createHash } from 'node:crypto';
import { type ClientDeviceId, encodeBase64, encodePushKey, tokenIdFromDigest } from '@waxwing/protocol';
import { loadWasmSodium } from '@waxwing/sodium';
import type { RelayReaction } from '../../../support/relay-stand-in.js';
import type { Account, ServerUnderTest } from '../server-under-test.js';

const sodium = await loadWasmSodium();
const bouncerPublicKey = encodeBase64(sodium.generateKeyPair().publicKey);

/** A token's id, as a phone computes it. */
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

/** Returns `devices` from the user's register response. */
export async function devicesOf(test: ServerUnderTest, account: Account): Promise<Record<string, unknown>> {
  const { body } = await test.ask(account, 'POST', 'register', {
    event_types: '[]',
    fetch_event_types: '["device"]',
  });
  return body.devices as Record<string, unknown>;
}

/** A relay's successful response to a registration of the newer generation. */
export const tokenRegistered: RelayReaction = { status: 200, body: { result: 'success', msg: '' } };
