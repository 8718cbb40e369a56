import { z } from 'zod';
import { initialState } from '../platform/event-queues/initial-state.js';

const pushDevice = z.object({
  status: z.enum(['pending', 'active', 'failed']),
  error_code: z.string().nullable(),
});

/** `push_devices` of the register answer (docs/protocol.md#push_device-events), by decimal push account id. */
export const pushDevicesState = initialState({
  eventType: 'push_device',
  shape: z.object({ push_devices: z.record(z.string(), pushDevice) }),
  fetch: async ({ database: { db }, serverPush }, { id }) => ({
    push_devices: await serverPush.pushDevicesOf(id, db),
  }),
});
