import {
  encodeRelayRegisterMany,
  type ForwardedRegistration,
  type RelayDeviceId,
  relayRegisterAnswer,
  stringifyJson,
} from '@waxwing/protocol';
import { charactersOfUser, readSameToken, type SameToken } from '../registrations/same-token.js';
import { registrationFormat } from '../relay-link/registration-format.js';

/** A registration that the relay has stored. */
export interface RegisteredRelayDevice extends SameToken {
  readonly relayDeviceId: RelayDeviceId;
}

// Characters allowed for the rest of a registration: field names, quotes, a key and an account id.
const charactersAround = 256;

/** Format of older-generation registrations in requests to the relay (docs/protocol.md#remotespushe2eeregister). */
export const pushAccountFormat = registrationFormat<ForwardedRegistration, RegisteredRelayDevice>({
  form(realmUuid, registration) {
    const { accountsOfUser, tokenIdsOfUser } = registration;
    return {
      realm_uuid: realmUuid,
      push_account_id: registration.pushAccountId,
      encrypted_push_registration: registration.encryptedPushRegistration,
      bouncer_public_key: registration.bouncerPublicKey,
      ...(accountsOfUser.length > 0 && { accounts_of_user: stringifyJson(accountsOfUser.map(BigInt)) }),
      ...(tokenIdsOfUser.length > 0 && { token_ids_of_user: JSON.stringify(tokenIdsOfUser) }),
    };
  },
  body: encodeRelayRegisterMany,
  charactersOf: (registration) =>
    registration.encryptedPushRegistration.length + charactersOfUser(registration) + charactersAround,
  answer: relayRegisterAnswer.transform(({ device_id: relayDeviceId, ...compared }) => ({
    relayDeviceId,
    ...readSameToken(compared),
  })),
});
