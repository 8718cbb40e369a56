import {
  encodeRelayRegisterMany,
  type ForwardedRegistration,
  formatPushAccountId,
  type PushAccountIdText,
  type RelayDeviceId,
  relayRegisterAnswer,
  stringifyJson,
} from '@waxwing/protocol';
import { registrationFormat } from '../relay-link/registration-format.js';

/** A registration that the relay has stored. */
export interface RegisteredRelayDevice {
  readonly relayDeviceId: RelayDeviceId;
  /** The user's other accounts that have the same token; none from a relay that does not compare them. */
  readonly sameTokenAccounts: readonly PushAccountIdText[];
}

// Overhead per registration: names, quotes, a key and an account id.
const charactersAround = 256;
// Digits, sign and comma.
const charactersPerAccount = 21;

/** The older generation's registrations on the way to the relay (docs/protocol.md#remotespushe2eeregister). */
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
  answer: relayRegisterAnswer.transform(
    ({ device_id: relayDeviceId, same_token_push_account_ids: accounts = [] }) => ({
      relayDeviceId,
      sameTokenAccounts: accounts.map(formatPushAccountId),
    }),
  ),
});
