import { z } from 'zod';
import { relayDeviceId } from './relay-device-id.js';
import { pushAccountId, uuid } from './wire-fields.js';

/** Path of the relay's operation that accepts a sealed registration. */
export const relayRegisterPath = '/api/v1/remotes/push/e2ee/register';

/**
 * Form parameters of `POST /remotes/push/e2ee/register` (docs/protocol.md#remotespushe2eeregister). Checks presence
 * and type only; the handler validates contents.
 */
export const relayRegisterParameters = z.object({
  realm_uuid: uuid,
  push_account_id: pushAccountId,
  encrypted_push_registration: z.string(),
  bouncer_public_key: z.string(),
});

/** The same in both generations (docs/protocol.md#two-generations): the newer one has `token_id` for `push_account_id`. */
export const relayRegisterAnyParameters = relayRegisterParameters.extend({
  push_account_id: pushAccountId.optional(),
  /** A {@link TokenId}, compared with that of the sealed token. */
  token_id: z.string().optional(),
});

/** The relay's answer: the id of its RelayDevice, for use in notify requests. */
export const relayRegisterAnswer = z.object({
  device_id: relayDeviceId,
});

/** The relay's answer in both generations: the newer one addresses the device by its token's id. */
export const relayRegisterAnyAnswer = relayRegisterAnswer.partial();
