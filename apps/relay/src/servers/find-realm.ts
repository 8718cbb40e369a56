import { ProtocolError } from '@waxwing/protocol';
import type { KnownRealm, ServerDirectory } from './server-directory.js';
import type { RealmId } from './server-tables.js';

export interface Realm {
  readonly realmId: RealmId;
  readonly realmUuid: string;
}

/**
 * A server's own realm by its UUID (lower case).
 * @throws ProtocolError MISSING_REMOTE_REALM, or REMOTE_REALM_SERVER_MISMATCH_ERROR for another server's.
 */
export async function findRealm(
  servers: ServerDirectory,
  serverId: string,
  realmUuid: string,
): Promise<Realm> {
  return ownRealm(await servers.realm(realmUuid), serverId, realmUuid);
}

/** {@link findRealm} without waiting; `undefined` where it was not found a moment ago. */
export function recentRealm(
  servers: ServerDirectory,
  serverId: string,
  realmUuid: string,
): Realm | undefined {
  const realm = servers.recentRealm(realmUuid);
  return realm && ownRealm(realm, serverId, realmUuid);
}

function ownRealm(realm: KnownRealm | undefined, serverId: string, realmUuid: string): Realm {
  if (realm === undefined) throw new ProtocolError('MISSING_REMOTE_REALM');
  if (realm.serverId !== serverId) throw new ProtocolError('REMOTE_REALM_SERVER_MISMATCH_ERROR');
  return { realmId: realm.realmId, realmUuid };
}
