import { removeClientDeviceParameters, removeClientDevicePath } from '@waxwing/protocol';
import { noAnswer, operation } from '@waxwing/service/http';
import type { ServerPushContext } from '../context.js';
import { person } from '../person.js';
import { invalidDevice } from './device-refusals.js';
import { removeClientDevices } from './remove-client-devices.js';

type Context = Pick<ServerPushContext, 'authenticate' | 'clock' | 'database' | 'publish'>;

/**
 * `POST /api/v1/remove_client_device` (docs/protocol.md#register_client_device): deletes one of the user's devices. The
 * same transaction enqueues a job that asks the relay to delete the token, unless another device uses it. A pending
 * registration has no further effect.
 *
 * Refuses with UNAUTHORIZED, INVALID_API_KEY or REQUEST_VARIABLE_MISSING; BAD_REQUEST for a bot, and for a device that
 * does not exist or belongs to another user.
 */
export const removeClientDevice = operation({
  method: 'POST',
  path: removeClientDevicePath,
  summary: "Deletes one of the user's devices, and asks the relay to delete its token.",
  actor: person,
  parameters: removeClientDeviceParameters,
  answer: noAnswer,
  codes: [],
  async handle(context: Context, { actor, parameters }) {
    await context.database.write(async (transaction) => {
      await actor.lockUser(transaction);
      const choice = { deviceId: parameters.device_id };
      const removed = await removeClientDevices(context, transaction, actor.userId, choice);
      if (removed === 0) throw invalidDevice();
    });
    return {};
  },
});
