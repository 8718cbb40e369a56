import {
  formatPushAccountId,
  registerPushDevicePath,
  unregisterPushDeviceParameters,
} from '@waxwing/protocol';
import { noAnswer, operation } from '@waxwing/service/http';
import type { ServerPushContext } from '../context.js';
import { person } from '../person.js';
import { deletePushDevicesOf } from './push-device-store.js';
import { enqueueRemoval } from './remove-relay-devices.js';

type Context = Pick<ServerPushContext, 'authenticate' | 'clock' | 'database'>;

/**
 * `DELETE /api/v1/mobile_push/register`, an extension: deletes one of the user's PushDevices. The same transaction
 * enqueues a durable job that asks the relay to delete the relay device. A pending registration has no further effect.
 * Idempotent: deleting a device that does not exist succeeds, so that a phone can retry after a lost response.
 *
 * Refuses with UNAUTHORIZED, INVALID_API_KEY, REQUEST_VARIABLE_MISSING or BAD_REQUEST.
 */
export const unregisterPushDevice = operation({
  method: 'DELETE',
  path: registerPushDevicePath,
  summary: "Deletes one of the user's phones, here and at the relay.",
  actor: person,
  parameters: unregisterPushDeviceParameters,
  answer: noAnswer,
  codes: [],
  async handle({ clock, database }: Context, { actor, parameters }) {
    const pushAccountId = formatPushAccountId(parameters.push_account_id);
    const now = clock();
    await database.write(async (transaction) => {
      await actor.lockUser(transaction);
      const freed = await deletePushDevicesOf(transaction, actor.userId, { pushAccountId });
      await enqueueRemoval(database, transaction, { freed, now });
    });
    return {};
  },
});
