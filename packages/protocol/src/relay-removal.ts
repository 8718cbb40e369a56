import { z } from 'zod';
import { stringifyJson } from './json.js';
import type { PushAccountIdText } from './push-account-id.js';
import { type PushKeyId, parsePushKeyId } from './push-key.js';
import { type RelayDeviceId, relayDeviceId } from './relay-device-id.js';
import type { TokenId } from './token-id.js';
import { jsonList, pushAccountId, tokenId, uuid } from './wire-fields.js';

/**
 * Path of the relay's operation that deletes devices. Stock relays lack this operation and respond with 404, 405 or
 * 400.
 */
export const relayRemovePath = '/api/v1/remotes/push/e2ee/remove';

/** Maximum number of devices in each list of one removal. */
export const maximumRemovedDevices = 200;

const pushKeyId = z
  .custom<PushKeyId>((value) => typeof value === 'number' && parsePushKeyId(value) !== undefined)
  .meta({ openApi: { type: 'integer', minimum: 0, maximum: 0xffff_ffff } });
const endedKey = z.object({ token_id: tokenId, push_key_id: pushKeyId });

function listed<Schema extends z.ZodType>(element: Schema, what: string) {
  return jsonList(element, maximumRemovedDevices, what);
}

/**
 * Form parameters of `POST /remotes/push/e2ee/remove` (docs/protocol.md#remotespushe2eeremove). `device_ids` (older
 * generation) and `token_ids` (newer generation) are JSON arrays, which may be empty; one of them may be absent. If the
 * optional `push_account_ids` is present, it has as many entries as `device_ids`, and the relay deletes each device
 * only if it belongs to the account at the same position. `ended_keys` lists the keys of accounts that have signed out
 * while other accounts still use the token.
 */
export const relayRemoveParameters = z.object({
  realm_uuid: uuid,
  device_ids: listed(relayDeviceId, 'device ids'),
  push_account_ids: listed(pushAccountId, 'integers of 64 bits'),
  token_ids: listed(tokenId, 'token ids'),
  ended_keys: listed(endedKey, 'token ids with push key ids'),
});

/** The relay's response. It is the same even if the relay knows none of the devices. */
export const relayRemoveAnswer = z.object({});

/**
 * A device to remove. The push account is required, because the same device id may belong to a different account after
 * the relay's database is restored from a backup.
 */
export interface RemovedDevice {
  readonly relayDeviceId: RelayDeviceId;
  readonly pushAccountId: PushAccountIdText;
}

/** A key that the relay must remove while its token remains registered. */
export interface EndedKey {
  readonly tokenId: TokenId;
  readonly pushKeyId: PushKeyId;
}

/** Devices and keys that a server asks the relay to remove. An absent list is empty. */
export interface RelayRemoval {
  /** Devices of the older generation. */
  readonly devices?: readonly RemovedDevice[];
  /** Devices of the newer generation. */
  readonly tokens?: readonly TokenId[];
  readonly endedKeys?: readonly EndedKey[];
}

/**
 * Builds the form of the request. The form always contains `device_ids` or `token_ids`, because relays require at least
 * one of them.
 */
export function encodeRelayRemoval(
  realmUuid: string,
  { devices = [], tokens = [], endedKeys = [] }: RelayRemoval,
): Record<string, string> {
  const form: Record<string, string> = { realm_uuid: realmUuid };
  if (devices.length > 0 || (tokens.length === 0 && endedKeys.length === 0)) {
    form.device_ids = JSON.stringify(devices.map((device) => device.relayDeviceId));
    form.push_account_ids = stringifyJson(devices.map((device) => BigInt(device.pushAccountId)));
  }
  if (tokens.length > 0 || endedKeys.length > 0) form.token_ids = JSON.stringify(tokens);
  if (endedKeys.length > 0) {
    form.ended_keys = JSON.stringify(
      endedKeys.map(({ tokenId, pushKeyId }) => ({ token_id: tokenId, push_key_id: pushKeyId })),
    );
  }
  return form;
}
