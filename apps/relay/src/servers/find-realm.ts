import { ProtocolError } from '@waxwing/protocol';
import type { KnownRealm, ServerDirectory } from './server-directory.js';
import type { RealmId } from './server-tables.js';

export interface Realm {
  readonly realmId: RealmId;
  readonly realmUuid: string;
}

/**
 * Finds a server's own realm by its UUID (lowercase).
 * @throws ProtocolError MISSING_REMOTE_REALM for an unknown realm, or REMOTE_REALM_SERVER_MISMATCH_ERROR for another
 * server's realm.
 */
export function findRealm(
  servers: ServerDirectory,
  serverId: string,
  realmUuid: string,
): Realm | Promise<Realm> {
  const realm = servers.realm(realmUuid);
  if (realm instanceof Promise) return realm.then((found) => requireOwn(found, serverId, realmUuid));
  return requireOwn(realm, serverId, realmUuid);
}

function requireOwn(realm: KnownRealm | undefined, serverId: string, realmUuid: string): Realm {
  if (realm === undefined) throw new ProtocolError('MISSING_REMOTE_REALM');
  if (realm.serverId !== serverId) throw new ProtocolError('REMOTE_REALM_SERVER_MISMATCH_ERROR');
  return { realmId: realm.realmId, realmUuid };
}
