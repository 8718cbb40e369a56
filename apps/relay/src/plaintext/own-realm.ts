import { ProtocolError } from '@waxwing/protocol';
import type { KnownRealm, ServerDirectory } from '../servers/server-directory.js';

/**
 * Finds the realm that a request names. Returns `undefined` if the request names no realm, or an unknown realm.
 * @throws ProtocolError REMOTE_REALM_SERVER_MISMATCH_ERROR for another server's realm.
 */
export async function findOwnRealm(
  servers: ServerDirectory,
  serverId: string,
  realmUuid: string | null | undefined,
): Promise<KnownRealm | undefined> {
  const realm = realmUuid == null ? undefined : await servers.realm(realmUuid);
  if (realm !== undefined && realm.serverId !== serverId) {
    throw new ProtocolError('REMOTE_REALM_SERVER_MISMATCH_ERROR');
  }
  return realm;
}
