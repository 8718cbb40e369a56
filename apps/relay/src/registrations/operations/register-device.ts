import {
  registerBodyLimitBytes,
  relayRegisterAnswer,
  relayRegisterParameters,
  relayRegisterPath,
} from '@waxwing/protocol';
import { operation } from '@waxwing/service/http';
import { server } from '../../servers/authenticate-server.js';
import { findRealm } from '../../servers/find-realm.js';
import type { ServerDirectory } from '../../servers/server-directory.js';
import type { ServerQuotas } from '../../servers/server-quotas.js';
import type { RegistrationBatches } from '../opening/registration-batches.js';

interface Context {
  readonly servers: ServerDirectory;
  readonly registrations: RegistrationBatches;
  readonly quotas: Pick<ServerQuotas, 'take'>;
}

/**
 * Takes a sealed registration from a server and answers the `device_id` to notify the device by; the same one for the
 * same realm, push account and token. Durable before it answers (docs/protocol.md#remotespushe2eeregister).
 *
 * Refuses, checked in this order: UNAUTHORIZED; RATE_LIMIT_HIT with HTTP 503; REQUEST_VARIABLE_MISSING and BAD_REQUEST
 * for parameters; MISSING_REMOTE_REALM, REMOTE_REALM_SERVER_MISMATCH_ERROR; INVALID_BOUNCER_PUBLIC_KEY; BAD_REQUEST for
 * what does not open, whatever the reason; REQUEST_EXPIRED; BAD_REQUEST for one that is bound to another realm or account
 * by what it says itself, was presented for another realm first or for ten push accounts already, or comes from further
 * in the future than the liveness timeout; REQUEST_EXPIRED for one that is older, by its sequence, than another that the
 * account has registered with.
 */
export const registerDevice = operation({
  method: 'POST',
  path: relayRegisterPath,
  summary: 'Takes a sealed push registration and answers the id to notify the device by.',
  actor: server,
  parameters: relayRegisterParameters,
  bodyLimitBytes: registerBodyLimitBytes,
  answer: relayRegisterAnswer,
  codes: [
    'RATE_LIMIT_HIT',
    'MISSING_REMOTE_REALM',
    'REMOTE_REALM_SERVER_MISMATCH_ERROR',
    'INVALID_BOUNCER_PUBLIC_KEY',
    'REQUEST_EXPIRED',
  ],
  charge: ({ quotas }: Context, { serverId }) => quotas.take(serverId, 1),
  async handle({ registrations, servers }: Context, { actor: { serverId }, parameters }) {
    const { realmId } = await findRealm(servers, serverId, parameters.realm_uuid);
    const deviceId = await registrations.register({
      realmId,
      realmUuid: parameters.realm_uuid,
      pushAccountId: parameters.push_account_id,
      encryptedPushRegistration: parameters.encrypted_push_registration,
      bouncerPublicKey: parameters.bouncer_public_key,
    });
    return { device_id: deviceId };
  },
});
