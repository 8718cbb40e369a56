import { relayAppsAnswer, relayAppsParameters, relayAppsPath } from '@waxwing/protocol';
import { operation } from '@waxwing/service/http';
import { server } from '../../servers/authenticate-server.js';
import { findRealm } from '../../servers/find-realm.js';
import type { ServerDirectory } from '../../servers/server-directory.js';
import type { ServerQuotas } from '../../servers/server-quotas.js';
import type { Deliveries } from '../create-deliveries.js';

interface AppsContext {
  readonly servers: ServerDirectory;
  readonly quotas: Pick<ServerQuotas, 'take'>;
  readonly deliveries: Pick<Deliveries, 'appsOf'>;
}

/**
 * Returns whether the relay can deliver to each app of a realm's devices (docs/protocol.md#remotespushe2eeapps).
 *
 * Errors, checked in this order: UNAUTHORIZED; RATE_LIMIT_HIT with HTTP 503; REQUEST_VARIABLE_MISSING and BAD_REQUEST
 * for a missing or invalid `realm_uuid`; MISSING_REMOTE_REALM, REMOTE_REALM_SERVER_MISMATCH_ERROR.
 */
export const findApps = operation({
  method: 'GET',
  path: relayAppsPath,
  summary: "Returns whether the relay can deliver to the apps of a realm's devices.",
  actor: server,
  parameters: relayAppsParameters,
  answer: relayAppsAnswer,
  codes: ['RATE_LIMIT_HIT', 'MISSING_REMOTE_REALM', 'REMOTE_REALM_SERVER_MISMATCH_ERROR'],
  charge: ({ quotas }: AppsContext, { serverId }) => quotas.take(serverId, 1),
  async handle({ deliveries, servers }: AppsContext, { actor: { serverId }, parameters }) {
    const realm = await findRealm(servers, serverId, parameters.realm_uuid);
    return deliveries.appsOf({ ...realm, serverId });
  },
});
