import { type GroupId, refused } from '@waxwing/protocol';
import type { Kysely } from 'kysely';
import type { ServerTables } from '../../tables.js';
import type { Group } from './group-record.js';
import { findGroups } from './group-store.js';

/**
 * Returns the group with this id. Finds only groups that have a name.
 * @throws ProtocolError BAD_REQUEST if there is no such group.
 */
export async function requireGroup(db: Kysely<ServerTables>, id: GroupId): Promise<Group> {
  const [group] = await findGroups(db, [id]);
  if (group === undefined) throw refused('Invalid user group');
  return group;
}
