import {
  encodeRelayRegisterMany,
  type ForwardedTokenRegistration,
  relayRegisterAnswer,
  stringifyJson,
} from '@waxwing/protocol';
import { charactersPerAccount, readSameTokenAccounts } from '../push-devices/push-account-format.js';
import type { SameTokenAccounts } from '../push-devices/same-token-devices.js';
import { registrationFormat } from '../relay-link/registration-format.js';

// Field names, quotes, a key and a token's id.
const charactersAround = 256;

/**
 * The format in which registrations of the newer generation go to the relay (docs/protocol.md#remotespushe2eeregister).
 */
export const tokenFormat = registrationFormat<ForwardedTokenRegistration, SameTokenAccounts>({
  form: (realmUuid, { tokenId, encryptedPushRegistration, bouncerPublicKey, accountsOfUser }) => ({
    realm_uuid: realmUuid,
    token_id: tokenId,
    encrypted_push_registration: encryptedPushRegistration,
    bouncer_public_key: bouncerPublicKey,
    ...(accountsOfUser.length > 0 && { accounts_of_user: stringifyJson(accountsOfUser.map(BigInt)) }),
  }),
  body: encodeRelayRegisterMany,
  charactersOf: ({ encryptedPushRegistration, accountsOfUser }) =>
    encryptedPushRegistration.length + accountsOfUser.length * charactersPerAccount + charactersAround,
  answer: relayRegisterAnswer.pick({ same_token_push_account_ids: true }).transform(readSameTokenAccounts),
});
