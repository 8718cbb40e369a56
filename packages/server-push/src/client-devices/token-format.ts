import {
  encodeRelayRegisterMany,
  type ForwardedTokenRegistration,
  relayRegisterAnswer,
  stringifyJson,
} from '@waxwing/protocol';
import { charactersOfUser, readSameToken, type SameToken } from '../registrations/same-token.js';
import { registrationFormat } from '../relay-link/registration-format.js';

// Characters allowed for the rest of a registration: field names, quotes, a key and a token id.
const charactersAround = 256;

/** Format of newer-generation registrations in requests to the relay (docs/protocol.md#remotespushe2eeregister). */
export const tokenFormat = registrationFormat<ForwardedTokenRegistration, SameToken>({
  form(realmUuid, registration) {
    const { accountsOfUser, tokenIdsOfUser } = registration;
    return {
      realm_uuid: realmUuid,
      token_id: registration.tokenId,
      encrypted_push_registration: registration.encryptedPushRegistration,
      bouncer_public_key: registration.bouncerPublicKey,
      ...(accountsOfUser.length > 0 && { accounts_of_user: stringifyJson(accountsOfUser.map(BigInt)) }),
      ...(tokenIdsOfUser.length > 0 && { token_ids_of_user: JSON.stringify(tokenIdsOfUser) }),
    };
  },
  body: encodeRelayRegisterMany,
  charactersOf: (registration) =>
    registration.encryptedPushRegistration.length + charactersOfUser(registration) + charactersAround,
  answer: relayRegisterAnswer
    .pick({ same_token_push_account_ids: true, same_token_ids: true })
    .transform(readSameToken),
});
