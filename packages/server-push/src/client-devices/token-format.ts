import {
  encodeTokenRegisterMany,
  encodeTokenRegistration,
  type ForwardedTokenRegistration,
  relayRegisterTokenAnswer,
} from '@waxwing/protocol';
import { registrationFormat } from '../relay-link/registration-format.js';

// Names, quotes, a key and a token's id.
const charactersAround = 256;

/** The newer generation's registrations on the way to the relay (docs/protocol.md#remotespushe2eeregister). */
export const tokenFormat = registrationFormat<ForwardedTokenRegistration, object>({
  form: (realmUuid, registration) => ({ realm_uuid: realmUuid, ...encodeTokenRegistration(registration) }),
  body: encodeTokenRegisterMany,
  charactersOf: ({ encryptedPushRegistration }) => encryptedPushRegistration.length + charactersAround,
  answer: relayRegisterTokenAnswer,
});
