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
 * Registers a device from a sealed registration that a server forwards. The registration is durable before the relay
 * responds (docs/protocol.md#remotespushe2eeregister). In the older generation, the response has a `device_id`, which
 * is the same for the same realm, push account and token. In the newer generation, realm and `token_id` identify the
 * device. A repeat revives an expired device. In both generations, the response lists the other `accounts_of_user` and
 * `token_ids_of_user` that have the same token, so that the server can drop older registrations of the same phone.
 *
 * Errors, checked in this order: UNAUTHORIZED; RATE_LIMIT_HIT with HTTP 503; REQUEST_VARIABLE_MISSING and BAD_REQUEST
 * for missing or invalid parameters; MISSING_REMOTE_REALM, REMOTE_REALM_SERVER_MISMATCH_ERROR;
 * INVALID_BOUNCER_PUBLIC_KEY; BAD_REQUEST for a registration that cannot be decrypted; REQUEST_EXPIRED; BAD_REQUEST for
 * a registration whose fields name another realm or account, that was presented before for another realm or for ten
 * push accounts, or that is dated further ahead than the liveness timeout; REQUEST_EXPIRED for a lower sequence than
 * the account has already used.
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
