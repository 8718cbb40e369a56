import type { TokenId } from '@waxwing/protocol';
import { z } from 'zod';
import { registrationFormat } from '../relay-link/registration-format.js';

/** A registration of the newer generation on its way to the relay. */
export interface TokenRegistration {
  readonly tokenId: TokenId;
  /** Base64. */
  readonly encryptedPushRegistration: string;
  readonly bouncerPublicKey: string;
}

// Names, quotes, a key and a token's id.
const charactersAround = 256;

/** The newer generation's registrations as the relay reads them (docs/protocol.md#remotespushe2eeregister). */
export const tokenFormat = registrationFormat<TokenRegistration, object>({
  form: (realmUuid, registration) => ({ realm_uuid: realmUuid, ...fieldsOf(registration) }),
  body: (realmUuid, registrations) => ({
    realm_uuid: realmUuid,
    registrations: registrations.map(fieldsOf),
  }),
  charactersOf: ({ encryptedPushRegistration }) => encryptedPushRegistration.length + charactersAround,
  answer: z.object({}),
});

function fieldsOf({ tokenId, encryptedPushRegistration, bouncerPublicKey }: TokenRegistration) {
  return {
    token_id: tokenId,
    encrypted_push_registration: encryptedPushRegistration,
    bouncer_public_key: bouncerPublicKey,
  };
}
