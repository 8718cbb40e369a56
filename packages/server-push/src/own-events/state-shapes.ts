import { z } from 'zod';

/**
 * The state of one device in `push_devices`, in the response to `POST /register` (docs/protocol.md#push_device-events).
 */
export const pushDeviceShape = z.object({
  status: z.enum(['pending', 'active', 'failed']),
  error_code: z.string().nullable(),
});

/** The state of one device in `devices`, in the response to `POST /register` (docs/protocol.md#device-events). */
export const clientDeviceShape = z.object({
  push_key_id: z.number().int().nullable(),
  push_token_id: z.string().nullable(),
  pending_push_token_id: z.string().nullable(),
  push_token_last_updated_timestamp: z.number().int().nullable(),
  push_registration_error_code: z.string().nullable(),
});
