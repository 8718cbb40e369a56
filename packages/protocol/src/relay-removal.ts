import { z } from 'zod';
import { parseJsonOrUndefined } from './json.js';
import { type RelayDeviceId, relayDeviceId } from './relay-device-id.js';
import { uuid } from './wire-fields.js';

/** Path of the relay's operation that forgets devices; a stock relay has none and answers 404, 405 or 400. */
export const relayRemovePath = '/api/v1/remotes/push/e2ee/remove';

/** Most devices in one removal. */
export const maximumRemovedDevices = 200;

const deviceIds = z.array(relayDeviceId).max(maximumRemovedDevices);

/** Form parameters of `POST /remotes/push/e2ee/remove`; `device_ids` is a JSON array, empty allowed. */
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
});

/** What the relay answers, also where it knew none of the devices. */
export const relayRemoveAnswer = z.object({});

/** The form as a server writes it. */
export function encodeRelayRemoval(
  realmUuid: string,
  deviceIds: readonly RelayDeviceId[],
): Record<string, string> {
  return { realm_uuid: realmUuid, device_ids: JSON.stringify(deviceIds) };
}
