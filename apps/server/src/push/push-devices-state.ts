import { pushDeviceShape } from '@waxwing/server-push';
import { z } from 'zod';
import { initialState } from '../platform/event-queues/initial-state.js';

/**
 * The `push_devices` field of the register response (docs/protocol.md#push_device-events), keyed by decimal push
 * account id.
 */
export const pushDevicesState = initialState({
  eventType: 'push_device',
  shape: z.object({ push_devices: z.record(z.string(), pushDeviceShape) }),
  fetch: async ({ database: { db }, serverPush }, { id }) => ({
    push_devices: await serverPush.pushDevicesOf(id, db),
  }),
});
