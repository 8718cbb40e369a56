import { z } from 'zod';
import { parseJsonOrUndefined } from './json.js';
import type { PushAccountId } from './push-account-id.js';
import { relayDeviceId } from './relay-device-id.js';
import { pushAccountId, uuid } from './wire-fields.js';

/** Path of the relay's operation that accepts a sealed registration. */
export const relayRegisterPath = '/api/v1/remotes/push/e2ee/register';

/** Maximum number of a user's accounts that a server sends with a registration. */
export const maximumAccountsOfUser = 100;

export const accountsOfUser = z.array(pushAccountId).max(maximumAccountsOfUser);

/**
 * Form parameters of `POST /remotes/push/e2ee/register` (docs/protocol.md#remotespushe2eeregister). Checks presence
 * and type only; the handler validates contents. `accounts_of_user` is a JSON array.
 */
export const relayRegisterParameters = z.object({
  realm_uuid: uuid,
  push_account_id: pushAccountId,
  encrypted_push_registration: z.string(),
  bouncer_public_key: z.string(),
  accounts_of_user: z
    .string()
    .transform((text, context): readonly PushAccountId[] => {
      const ids = accountsOfUser.safeParse(parseJsonOrUndefined(text));
      if (ids.success) return ids.data;
      const message = `must be a JSON array of at most ${maximumAccountsOfUser} integers of 64 bits`;
      context.addIssue({ code: 'custom', message });
      return z.NEVER;
    })
    .meta({ openApiJson: accountsOfUser })
    .optional(),
});

/**
 * Form parameters in both generations (docs/protocol.md#two-generations): the newer one has `token_id` instead of
 * `push_account_id`.
 */
export const relayRegisterAnyParameters = relayRegisterParameters.extend({
  push_account_id: pushAccountId.optional(),
  /** A {@link TokenId}, which must match the sealed token. */
  token_id: z.string().optional(),
});

/** The relay's answer: the id of its RelayDevice, for use in notify requests. */
export const relayRegisterAnswer = z.object({
  device_id: relayDeviceId,
  /** Other accounts of the user that have a device with the same token; absent if there are none. */
  same_token_push_account_ids: z.array(pushAccountId).optional(),
});

/** The relay's answer in both generations: the newer one addresses the device by its token's id. */
export const relayRegisterAnyAnswer = relayRegisterAnswer.partial();
