import { z } from 'zod';
import { tokenKinds } from './push-registration.js';
import { pushAccountId } from './wire-fields.js';

/**
 * Form parameters of `POST /mobile_push/register` in the older generation (docs/protocol.md#mobile_pushregister).
 * Checks only presence and types; the handler validates the values.
 */
export const registerPushDeviceParameters = z.object({
  token_kind: z.enum(tokenKinds),
  push_account_id: pushAccountId,
  push_public_key: z.string(),
  bouncer_public_key: z.string(),
  encrypted_push_registration: z.string(),
});

/** Form parameters of `DELETE /mobile_push/register`. */
export const unregisterPushDeviceParameters = z.object({ push_account_id: pushAccountId });
