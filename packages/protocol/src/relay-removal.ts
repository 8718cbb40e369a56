import { z } from 'zod';
import { parseJsonOrUndefined, stringifyJson } from './json.js';
import type { PushAccountId, PushAccountIdText } from './push-account-id.js';
import { type RelayDeviceId, relayDeviceId } from './relay-device-id.js';
import { pushAccountId, uuid } from './wire-fields.js';

/** Path of the relay's operation that deletes devices. A stock relay does not have it and answers 404, 405 or 400. */
export const relayRemovePath = '/api/v1/remotes/push/e2ee/remove';

/** Maximum devices in one removal. */
export const maximumRemovedDevices = 200;

const deviceIds = z.array(relayDeviceId).max(maximumRemovedDevices);
const pushAccountIds = z.array(pushAccountId).max(maximumRemovedDevices);

/**
 * Form parameters of `POST /remotes/push/e2ee/remove` (docs/protocol.md#remotespushe2eeremove). `device_ids` is a JSON
 * array, possibly empty. The optional `push_account_ids` is an array of the same length: each device is then deleted
 * only if it belongs to that account.
 */
export const relayRemoveParameters = z.object({
  realm_uuid: uuid,
  device_ids: z
    .string()
    .transform((text, context): readonly RelayDeviceId[] => {
      const ids = deviceIds.safeParse(parseJsonOrUndefined(text, JSON.parse));
      if (ids.success) return ids.data;
      const message = `must be a JSON array of at most ${maximumRemovedDevices} device ids`;
      context.addIssue({ code: 'custom', message });
      return z.NEVER;
    })
    .meta({ openApiJson: deviceIds }),
  push_account_ids: z
    .string()
    .transform((text, context): readonly PushAccountId[] => {
      const ids = pushAccountIds.safeParse(parseJsonOrUndefined(text));
      if (ids.success) return ids.data;
      const message = `must be a JSON array of at most ${maximumRemovedDevices} integers of 64 bits`;
      context.addIssue({ code: 'custom', message });
      return z.NEVER;
    })
    .meta({ openApiJson: pushAccountIds })
    .optional(),
});

/** The relay's answer; the same if it knew none of the devices. */
export const relayRemoveAnswer = z.object({});

/**
 * A device to remove. The push account is required: after a restore of the relay's database, the id alone may belong
 * to another account.
 */
export interface RemovedDevice {
  readonly relayDeviceId: RelayDeviceId;
  readonly pushAccountId: PushAccountIdText;
}

/** Builds the form for the request. */
export function encodeRelayRemoval(
  realmUuid: string,
  devices: readonly RemovedDevice[],
): Record<string, string> {
  return {
    realm_uuid: realmUuid,
    device_ids: JSON.stringify(devices.map((device) => device.relayDeviceId)),
    push_account_ids: stringifyJson(devices.map((device) => BigInt(device.pushAccountId))),
  };
}
