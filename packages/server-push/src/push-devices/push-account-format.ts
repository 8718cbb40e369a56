import {
  encodeRelayRegisterMany,
  type ForwardedRegistration,
  formatPushAccountId,
  type PushAccountId,
  type RelayDeviceId,
  relayRegisterAnswer,
  stringifyJson,
} from '@waxwing/protocol';
import { registrationFormat } from '../relay-link/registration-format.js';
import type { SameTokenAccounts } from './same-token-devices.js';

/** A registration that the relay has stored. */
export interface RegisteredRelayDevice extends SameTokenAccounts {
  readonly relayDeviceId: RelayDeviceId;
}

// Overhead per registration: field names, quotes, a key and an account id.
const charactersAround = 256;
/** Digits, sign and comma. */
export const charactersPerAccount = 21;

/**
 * The format in which registrations of the older generation go to the relay (docs/protocol.md#remotespushe2eeregister).
 */
export const pushAccountFormat = registrationFormat<ForwardedRegistration, RegisteredRelayDevice>({
  form(realmUuid, { pushAccountId, encryptedPushRegistration, bouncerPublicKey, accountsOfUser }) {
    return {
      realm_uuid: realmUuid,
      push_account_id: pushAccountId,
      encrypted_push_registration: encryptedPushRegistration,
      bouncer_public_key: bouncerPublicKey,
      ...(accountsOfUser.length > 1 && { accounts_of_user: stringifyJson(accountsOfUser.map(BigInt)) }),
    };
  },
  body: encodeRelayRegisterMany,
  charactersOf: ({ encryptedPushRegistration, accountsOfUser }) =>
    encryptedPushRegistration.length + accountsOfUser.length * charactersPerAccount + charactersAround,
  answer: relayRegisterAnswer.transform(({ device_id: relayDeviceId, ...compared }) => ({
    relayDeviceId,
    ...readSameTokenAccounts(compared),
  })),
});

/** Reads the relay's statement about the tokens of the user's accounts, in either generation. */
export function readSameTokenAccounts({
  same_token_push_account_ids: accounts = [],
}: {
  readonly same_token_push_account_ids?: readonly PushAccountId[] | undefined;
}): SameTokenAccounts {
  return { sameTokenAccounts: accounts.map(formatPushAccountId) };
}
