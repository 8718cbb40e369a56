import { z } from 'zod';
import { relayDeviceId } from './relay-device-id.js';
import { pushAccountId, uuid } from './wire-fields.js';

/** Path of the relay's operation that takes sealed registrations. */
export const relayRegisterPath = '/api/v1/remotes/push/e2ee/register';

/** Form parameters of `POST /remotes/push/e2ee/register`, by presence and type; what they hold is checked later. */
export const relayRegisterParameters = z.object({
  realm_uuid: uuid,
  push_account_id: pushAccountId,
  encrypted_push_registration: z.string(),
  bouncer_public_key: z.string(),
});

/** What the relay answers: the id of its RelayDevice, to be named when notifying. */
export const relayRegisterAnswer = z.object({
  device_id: relayDeviceId,
});
