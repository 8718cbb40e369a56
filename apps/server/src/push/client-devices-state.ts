import { z } from 'zod';
import { initialState } from '../platform/event-queues/initial-state.js';

const clientDevice = z.object({
  push_key_id: z.number().int().nullable(),
  push_token_id: z.string().nullable(),
  pending_push_token_id: z.string().nullable(),
  push_token_last_updated_timestamp: z.number().int().nullable(),
  push_registration_error_code: z.string().nullable(),
});

/** `devices` of the register answer (docs/protocol.md#device-events), by decimal device id. */
export const clientDevicesState = initialState({
  eventType: 'device',
  shape: z.object({ devices: z.record(z.string(), clientDevice) }),
  fetch: async ({ database: { db }, serverPush }, { id }) => ({
    devices: await serverPush.clientDevicesOf(id, db),
  }),
});
