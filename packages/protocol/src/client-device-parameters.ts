import { z } from 'zod';
import type { ClientDeviceId } from './client-device.js';
import { registerPushDeviceParameters } from './push-device-parameters.js';
import { type PushKeyId, parsePushKeyId } from './push-key.js';
import { tokenKinds } from './push-registration.js';

const integerText = /^-?\d{1,16}$/;

/**
 * A device id from JSON (a number) or a form (decimal digits). Accepts any integer, because the operation refuses
 * unknown ids.
 */
const clientDeviceId = z
  .unknown()
  .transform((value, context): ClientDeviceId => {
    const id = typeof value === 'string' && integerText.test(value) ? Number(value) : value;
    if (Number.isSafeInteger(id)) return id as ClientDeviceId;
    context.addIssue({ code: 'custom', message: 'must be an integer' });
    return z.NEVER;
  })
  .meta({ openApi: { type: 'integer' } });

const pushKeyId = z
  .unknown()
  .transform((value, context): PushKeyId => {
    const id = parsePushKeyId(value);
    if (id !== undefined) return id;
    // Uses the stock servers' message, because phones may match on it.
    context.addIssue({ code: 'custom', message: 'Value error, Not a valid unsigned 32-bit integer' });
    return z.NEVER;
  })
  .meta({ openApi: { type: 'integer', minimum: 0, maximum: 0xffff_ffff } });

/** The response to `POST /register_client_device`. */
export const registerClientDeviceAnswer = z.object({ device_id: z.number().int() });

/** Form parameters of `POST /remove_client_device`. */
export const removeClientDeviceParameters = z.object({ device_id: clientDeviceId });

/**
 * Form parameters of `POST /mobile_push/register` in the newer generation (docs/protocol.md#mobile_pushregister): a key
 * (`push_key_id` and `push_key`), a token (the other four fields), or both. Checks only presence and types; the handler
 * validates the values.
 */
export const registerClientPushParameters = z.object({
  device_id: clientDeviceId,
  push_key_id: pushKeyId.optional(),
  push_key: z.string().optional(),
  token_kind: z.enum(tokenKinds).optional(),
  token_id: z.string().optional(),
  bouncer_public_key: z.string().optional(),
  encrypted_push_registration: z.string().optional(),
});

/**
 * Form parameters of `POST /mobile_push/register` in either generation: the newer generation has `device_id`, the older
 * has `push_account_id`.
 */
export const registerPushAnyParameters = z.object({
  ...registerClientPushParameters.partial().shape,
  ...registerPushDeviceParameters.partial().shape,
});

/** Form parameters of `POST /mobile_push/e2ee/test_notification`: one device of either generation, or all. */
export const testNotificationParameters = registerPushAnyParameters.pick({
  device_id: true,
  push_account_id: true,
});
