import {
  formatPushAccountId,
  missingArgument,
  type PushAccountId,
  type relayRegisterAnyAnswer,
  type TokenId,
} from '@waxwing/protocol';
import type { z } from 'zod';
import type { RealmId } from '../../servers/server-tables.js';
import type { KeptRegistration, RegistrationBatches } from '../opening/registration-batches.js';
import { type Addressee, addresseeOfToken, pushAccountOf, tokenIdOf } from '../store/addressee.js';

/** A sealed registration as a server sends it, in either generation. */
interface ForwardedRegistration {
  readonly push_account_id?: PushAccountId | undefined;
  readonly token_id?: string | undefined;
  readonly encrypted_push_registration: string;
  readonly bouncer_public_key: string;
  readonly accounts_of_user?: readonly PushAccountId[] | undefined;
  readonly token_ids_of_user?: readonly TokenId[] | undefined;
}

/** Realm of a registration. */
interface RegistrationScope {
  readonly realmId: RealmId;
  /** Lowercase. */
  readonly realmUuid: string;
}

/**
 * Registers a device and formats the relay's response. In the newer generation the response has no `device_id`, because
 * the token identifies the device.
 * @throws the errors of `RegistrationBatches.register`.
 */
export async function registerForwarded(
  registrations: Pick<RegistrationBatches, 'register'>,
  addressee: Addressee,
  registration: ForwardedRegistration,
  { realmId, realmUuid }: RegistrationScope,
): Promise<z.output<typeof relayRegisterAnyAnswer>> {
  const { accounts_of_user: accounts = [], token_ids_of_user: tokenIds = [] } = registration;
  const ofUser = [...accounts.map(formatPushAccountId), ...tokenIds.map(addresseeOfToken)];
  const kept = await registrations.register({
    realmId,
    realmUuid,
    addressee,
    encryptedPushRegistration: registration.encrypted_push_registration,
    bouncerPublicKey: registration.bouncer_public_key,
    others: ofUser.filter((each) => each !== addressee),
  });
  return formatKept(addressee, kept);
}

/**
 * Reads the addressee of a registration. A `token_id` takes precedence over a push account. The relay refuses a wrong
 * `token_id` later, after it has decrypted the token.
 * @throws ProtocolError REQUEST_VARIABLE_MISSING for `token_id` if both fields are missing, as current stock relays do.
 */
export function readAddressee({
  push_account_id: account,
  token_id: tokenId,
}: ForwardedRegistration): Addressee {
  if (tokenId !== undefined) return addresseeOfToken(tokenId as TokenId);
  if (account !== undefined) return formatPushAccountId(account);
  throw missingArgument('token_id');
}

function formatKept(
  addressee: Addressee,
  { deviceId, sameToken }: KeptRegistration,
): z.output<typeof relayRegisterAnyAnswer> {
  const accounts = sameToken.flatMap((each) => pushAccountOf(each) ?? []);
  const tokenIds = sameToken.flatMap((each) => tokenIdOf(each) ?? []);
  return {
    ...(tokenIdOf(addressee) === undefined && { device_id: deviceId }),
    ...(accounts.length > 0 && { same_token_push_account_ids: accounts }),
    ...(tokenIds.length > 0 && { same_token_ids: tokenIds }),
  };
}
