import {
  registerBodyLimitBytes,
  relayRegisterAnyAnswer,
  relayRegisterAnyParameters,
  relayRegisterPath,
} from '@waxwing/protocol';
import { operation } from '@waxwing/service/http';
import { server } from '../../servers/authenticate-server.js';
import { findRealm } from '../../servers/find-realm.js';
import type { ServerDirectory } from '../../servers/server-directory.js';
import type { ServerQuotas } from '../../servers/server-quotas.js';
import type { RegistrationBatches } from '../opening/registration-batches.js';
import { readAddressee, registerForwarded } from './forwarded-registration.js';

interface Context {
  readonly servers: ServerDirectory;
  readonly registrations: RegistrationBatches;
  readonly quotas: Pick<ServerQuotas, 'take'>;
}

/**
 * Registers a device from a sealed registration that a server forwards. Durable before it answers
 * (docs/protocol.md#remotespushe2eeregister). In the older generation, realm and push account name a device. The answer
 * has its `device_id`, which is the same for the same realm, push account and token. In the newer generation, realm and
 * `token_id` name a device; a repeat revives an expired device. The answer in both generations lists the other
 * `accounts_of_user` with the same token, and the other `token_ids_of_user` with it, so that the server can drop
 * older registrations of the same phone.
 *
 * Errors, checked in this order: UNAUTHORIZED; RATE_LIMIT_HIT with HTTP 503; REQUEST_VARIABLE_MISSING and BAD_REQUEST
 * for parameters; MISSING_REMOTE_REALM, REMOTE_REALM_SERVER_MISMATCH_ERROR; INVALID_BOUNCER_PUBLIC_KEY; BAD_REQUEST for
 * a registration that does not open, whatever the reason; REQUEST_EXPIRED; BAD_REQUEST for a registration that is bound
 * to another realm or account by its own fields, was presented before for another realm or for ten push accounts, or is
 * dated further ahead than the liveness timeout; REQUEST_EXPIRED for a lower sequence than the account has already
 * registered with.
 */
export const registerDevice = operation({
  method: 'POST',
  path: relayRegisterPath,
  summary: 'Registers a device from a sealed push registration and returns its id.',
  actor: server,
  parameters: relayRegisterAnyParameters,
  bodyLimitBytes: registerBodyLimitBytes,
  answer: relayRegisterAnyAnswer,
  codes: [
    'RATE_LIMIT_HIT',
    'MISSING_REMOTE_REALM',
    'REMOTE_REALM_SERVER_MISMATCH_ERROR',
    'INVALID_BOUNCER_PUBLIC_KEY',
    'REQUEST_EXPIRED',
  ],
  charge: ({ quotas }: Context, { serverId }) => quotas.take(serverId, 1),
  async handle({ registrations, servers }: Context, { actor: { serverId }, parameters }) {
    const addressee = readAddressee(parameters);
    const { realm_uuid: realmUuid } = parameters;
    const { realmId } = await findRealm(servers, serverId, realmUuid);
    return registerForwarded(registrations, addressee, parameters, { realmId, realmUuid });
  },
});
