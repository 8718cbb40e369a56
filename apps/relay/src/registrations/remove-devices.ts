import { relayRemoveParameters, relayRemovePath } from '@waxwing/protocol';
import type { Operation } from '@waxwing/service/http';
import { type AuthenticatedServer, authenticateServer } from '../servers/authenticate-server.js';
import { findRealm } from '../servers/find-realm.js';
import type { ServerDirectory } from '../servers/server-directory.js';
import type { ServerQuotas } from '../servers/server-quotas.js';
import type { RelayDatabase } from '../tables.js';
import { deleteRelayDevices } from './relay-device-store.js';

export interface RemoveDevicesOptions {
  readonly servers: ServerDirectory;
  readonly database: RelayDatabase;
  readonly quotas: Pick<ServerQuotas, 'take'>;
}

/**
 * Forgets devices of one realm, their tokens with them, because their users are gone or have registered again. Success also
 * for ids that are unknown, removed already or another realm's, all alike, so that a repeat is harmless and nothing is
 * told about others. Each id costs the server as much of its quota as a notification. An extension of the push
 * registration protocol.
 *
 * Refuses, checked in this order: UNAUTHORIZED; REQUEST_VARIABLE_MISSING and BAD_REQUEST for parameters;
 * RATE_LIMIT_HIT with HTTP 503; MISSING_REMOTE_REALM, REMOTE_REALM_SERVER_MISMATCH_ERROR.
 */
export function removeDevices({
  servers,
  database,
  quotas,
}: RemoveDevicesOptions): Operation<AuthenticatedServer> {
  return {
    method: 'POST',
    path: relayRemovePath,
    authenticate: (head) => authenticateServer(head, servers),
    async handle(request, { serverId }) {
      const { realm_uuid: realmUuid, device_ids: ids } = request.parameters(relayRemoveParameters);
      quotas.take(serverId, Math.max(1, ids.length));
      const { realmId } = await findRealm(servers, serverId, realmUuid);
      if (ids.length > 0) await database.write(({ db }) => deleteRelayDevices(db, realmId, ids));
      return {};
    },
  };
}
