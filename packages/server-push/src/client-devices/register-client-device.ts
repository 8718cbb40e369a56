import {
  maximumPushDevicesPerUser,
  refused,
  registerClientDeviceAnswer,
  registerClientDevicePath,
} from '@waxwing/protocol';
import { noParameters, operation } from '@waxwing/service/http';
import type { ServerPushContext } from '../context.js';
import { person } from '../person.js';
import { deviceEvent } from './client-device-state.js';
import { createClientDevice } from './client-device-store.js';
import { removeAtRelay } from './remove-at-relay.js';

type Context = Pick<ServerPushContext, 'authenticate' | 'clock' | 'database' | 'publish'>;

/**
 * `POST /api/v1/register_client_device` (docs/protocol.md#register_client_device): creates a device. The client then
 * registers a key and a token for the device. If the user has the maximum number of devices, deletes the device without
 * a token that has been unused the longest.
 *
 * Refuses with UNAUTHORIZED or INVALID_API_KEY; with BAD_REQUEST for a bot, or if the user has the maximum number of
 * devices and all have a token.
 */
export const registerClientDevice = operation({
  method: 'POST',
  path: registerClientDevicePath,
  summary: 'Creates a device for one account on one client, and returns its id.',
  actor: person,
  parameters: noParameters,
  answer: registerClientDeviceAnswer,
  codes: ['BAD_REQUEST'],
  async handle({ clock, database, publish }: Context, { actor }) {
    const now = clock();
    return database.write(async (transaction) => {
      await actor.lockUser(transaction);
      const created = await createClientDevice(transaction, actor, now);
      if (created === undefined) {
        throw refused(
          `This user has ${maximumPushDevicesPerUser} devices with push tokens, which is the maximum; removing one makes room`,
        );
      }
      const { device, dropped } = created;
      await publish(transaction, [
        ...dropped.map((each) => deviceEvent('remove', each)),
        deviceEvent('add', device),
      ]);
      await removeAtRelay(database, transaction, dropped, now);
      return { device_id: device.id };
    });
  },
});
