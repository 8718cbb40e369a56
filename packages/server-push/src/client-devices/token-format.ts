import { encodeRelayRegisterMany, type ForwardedTokenRegistration } from '@waxwing/protocol';
import { z } from 'zod';
import { registrationFormat } from '../relay-link/registration-format.js';

// Names, quotes, a key and a token's id.
const charactersAround = 256;

/** The newer generation's registrations on the way to the relay (docs/protocol.md#remotespushe2eeregister). */
export const tokenFormat = registrationFormat<ForwardedTokenRegistration, object>({
  form: (realmUuid, { tokenId, encryptedPushRegistration, bouncerPublicKey }) => ({
    realm_uuid: realmUuid,
    token_id: tokenId,
    encrypted_push_registration: encryptedPushRegistration,
    bouncer_public_key: bouncerPublicKey,
  }),
  body: encodeRelayRegisterMany,
  charactersOf: ({ encryptedPushRegistration }) => encryptedPushRegistration.length + charactersAround,
  answer: z.object({}),
});
