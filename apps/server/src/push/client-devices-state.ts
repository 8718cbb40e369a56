import { clientDeviceShape } from '@waxwing/server-push';
import { z } from 'zod';
import { initialState } from '../platform/event-queues/initial-state.js';

/** The `devices` field of the register response (docs/protocol.md#device-events), keyed by decimal device id. */
export const clientDevicesState = initialState({
  eventType: 'device',
  shape: z.object({ devices: z.record(z.string(), clientDeviceShape) }),
  fetch: async ({ database: { db }, serverPush }, { id }) => ({
    devices: await serverPush.clientDevicesOf(id, db),
  }),
});
