import { z } from 'zod';
import { relayDeviceId } from './relay-device-id.js';
import { jsonList, pushAccountId, tokenId, uuid } from './wire-fields.js';

/** Path of the relay's operation that accepts a sealed registration. */
export const relayRegisterPath = '/api/v1/remotes/push/e2ee/register';

/**
 * Maximum number of a user's accounts that a server sends with a registration. The same limit applies to the token ids.
 */
export const maximumRegistrationsOfUser = 100;

export const accountsOfUser = z.array(pushAccountId).max(maximumRegistrationsOfUser);
export const tokenIdsOfUser = z.array(tokenId).max(maximumRegistrationsOfUser);

/**
 * Form parameters of `POST /remotes/push/e2ee/register` (docs/protocol.md#remotespushe2eeregister). Checks only
 * presence and types; the handler validates the values. `accounts_of_user` and `token_ids_of_user` are JSON arrays.
 */
export const relayRegisterParameters = z.object({
  realm_uuid: uuid,
  push_account_id: pushAccountId,
  encrypted_push_registration: z.string(),
  bouncer_public_key: z.string(),
  accounts_of_user: jsonList(pushAccountId, maximumRegistrationsOfUser, 'integers of 64 bits'),
  token_ids_of_user: jsonList(tokenId, maximumRegistrationsOfUser, 'token ids'),
});

/**
 * Form parameters in both generations (docs/protocol.md#two-generations): the newer generation has `token_id` instead
 * of `push_account_id`.
 */
export const relayRegisterAnyParameters = relayRegisterParameters.extend({
  push_account_id: pushAccountId.optional(),
  /** A {@link TokenId}, which must match the sealed token. */
  token_id: z.string().optional(),
});

/** The relay's response. `device_id` is the id to use in notify requests. */
export const relayRegisterAnswer = z.object({
  device_id: relayDeviceId,
  /** Other accounts of the user that have a device with the same token; absent if there are none. */
  same_token_push_account_ids: z.array(pushAccountId).optional(),
  /** Other ids in `token_ids_of_user` that belong to the same token; absent if there are none. */
  same_token_ids: z.array(tokenId).optional(),
});

/**
 * The relay's response in both generations. The newer generation has no `device_id`, because the token id identifies
 * the device.
 */
export const relayRegisterAnyAnswer = relayRegisterAnswer.partial();
