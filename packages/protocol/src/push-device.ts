import { z } from 'zod';
import { pushAccountId } from './wire-fields.js';

/** Path of the server's operation that registers a PushDevice. */
export const registerPushDevicePath = '/api/v1/mobile_push/register';
/** Path of the server's operation that sends a test notification. */
export const testNotificationPath = '/api/v1/mobile_push/e2ee/test_notification';

/** Form parameters of `POST /mobile_push/register`, by presence and type; what they hold is checked later. */
export const registerPushDeviceParameters = z.object({
  token_kind: z.enum(['fcm', 'apns']),
  push_account_id: pushAccountId,
  push_public_key: z.string(),
  bouncer_public_key: z.string(),
  encrypted_push_registration: z.string(),
});

/** Form parameters of `POST /mobile_push/e2ee/test_notification`. */
export const testNotificationParameters = z.object({ push_account_id: pushAccountId.optional() });

export const pushDeviceStatus = z.enum(['pending', 'active', 'failed']);
export type PushDeviceStatus = z.infer<typeof pushDeviceStatus>;

/** `push_devices` of the register answer: decimal `push_account_id` -> state. */
export const pushDevicesAnswer = z.record(
  z.string(),
  z.object({ status: pushDeviceStatus, error_code: z.string().nullable() }),
);

/** Event that tells the user's clients what became of a registration. */
export const pushDeviceEvent = z.object({
  type: z.literal('push_device'),
  push_account_id: pushAccountId,
  status: pushDeviceStatus,
  error_code: z.string().optional(),
});
export type PushDeviceEvent = z.infer<typeof pushDeviceEvent>;
