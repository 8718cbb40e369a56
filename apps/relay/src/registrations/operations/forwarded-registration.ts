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
}

/** The realm that a registration is for, and the user's push accounts. */
interface RegistrationScope {
  readonly realmId: RealmId;
  /** Lowercase. */
  readonly realmUuid: string;
  readonly accountsOfUser?: readonly PushAccountId[] | undefined;
}

/**
 * Registers a device and formats the relay's answer. The answer has no `device_id` in the newer generation, which names a
 * device by its token.
 * @throws ProtocolError as `RegistrationBatches.register`.
 */
export async function registerForwarded(
  registrations: Pick<RegistrationBatches, 'register'>,
  addressee: Addressee,
  { encrypted_push_registration, bouncer_public_key }: ForwardedRegistration,
  { realmId, realmUuid, accountsOfUser = [] }: RegistrationScope,
): Promise<z.output<typeof relayRegisterAnyAnswer>> {
  const kept = await registrations.register({
    realmId,
    realmUuid,
    addressee,
    encryptedPushRegistration: encrypted_push_registration,
    bouncerPublicKey: bouncer_public_key,
    otherAccounts: accountsOfUser.map(formatPushAccountId).filter((account) => account !== addressee),
  });
  return formatKept(addressee, kept);
}

/**
 * Reads the addressee of a registration. A `token_id` comes before a push account. A text that is no token's id is refused
 * later, because it differs from the id of the sealed token.
 * @throws ProtocolError REQUEST_VARIABLE_MISSING for `token_id` if neither field is there, as current stock relays answer.
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
  { deviceId, sameTokenAccounts }: KeptRegistration,
): z.output<typeof relayRegisterAnyAnswer> {
  const ids = sameTokenAccounts.flatMap((text) => parsePushAccountId(text) ?? []);
  return {
    ...(tokenIdOf(addressee) === undefined && { device_id: deviceId }),
    ...(ids.length > 0 && { same_token_push_account_ids: ids }),
  };
}
