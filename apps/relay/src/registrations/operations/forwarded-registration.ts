import {
  formatPushAccountId,
  missingArgument,
  type PushAccountId,
  parsePushAccountId,
  type relayRegisterAnyAnswer,
  type TokenId,
} from '@waxwing/protocol';
import type { z } from 'zod';
import type { RealmId } from '../../servers/server-tables.js';
import type { KeptRegistration, RegistrationBatches } from '../opening/registration-batches.js';
import { type Addressee, addresseeOfToken, tokenIdOf } from '../store/addressee.js';

/** A sealed registration as a server sends it, in either generation. */
interface ForwardedRegistration {
  readonly push_account_id?: PushAccountId | undefined;
  readonly token_id?: string | undefined;
  readonly encrypted_push_registration: string;
  readonly bouncer_public_key: string;
  readonly token_ids_of_user?: readonly TokenId[] | undefined;
}

/** The realm that a registration is for, and the user's push accounts. */
interface RegistrationScope {
  readonly realmId: RealmId;
  /** Lowercase. */
  readonly realmUuid: string;
  readonly accountsOfUser?: readonly PushAccountId[] | undefined;
}

/**
 * Registers a device and formats the relay's answer. In the newer generation the answer has no `device_id`, because the
 * token names the device.
 * @throws ProtocolError as `RegistrationBatches.register`.
 */
export async function registerForwarded(
  registrations: Pick<RegistrationBatches, 'register'>,
  addressee: Addressee,
  { encrypted_push_registration, bouncer_public_key, token_ids_of_user = [] }: ForwardedRegistration,
  { realmId, realmUuid, accountsOfUser = [] }: RegistrationScope,
): Promise<z.output<typeof relayRegisterAnyAnswer>> {
  const kept = await registrations.register({
    realmId,
    realmUuid,
    addressee,
    encryptedPushRegistration: encrypted_push_registration,
    bouncerPublicKey: bouncer_public_key,
    otherAccounts: accountsOfUser.map(formatPushAccountId).filter((account) => account !== addressee),
    otherTokenIds: token_ids_of_user.filter((id) => id !== tokenIdOf(addressee)),
  });
  return formatKept(addressee, kept);
}

/**
 * Reads the addressee of a registration. A `token_id` takes precedence over a push account. An id that is not that of
 * the sealed token is refused later.
 * @throws ProtocolError REQUEST_VARIABLE_MISSING for `token_id` if both fields are missing, as current stock relays
 * answer.
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
  { deviceId, sameTokenAccounts, sameTokenIds }: KeptRegistration,
): z.output<typeof relayRegisterAnyAnswer> {
  const ids = sameTokenAccounts.flatMap((text) => parsePushAccountId(text) ?? []);
  return {
    ...(tokenIdOf(addressee) === undefined && { device_id: deviceId }),
    ...(ids.length > 0 && { same_token_push_account_ids: ids }),
    ...(sameTokenIds.length > 0 && { same_token_ids: [...sameTokenIds] }),
  };
}
