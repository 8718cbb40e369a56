import type { GroupId } from '@waxwing/protocol';
import { jsonParameter, operation, optionalJsonParameter } from '@waxwing/service/http';
import { z } from 'zod';
import type { ServerContext } from '../../context.js';
import { nonGuest } from '../../platform/authentication/authenticate.js';
import type { KnownUser } from '../../platform/authentication/credential-store.js';
import type { ServerTransaction } from '../../tables.js';
import { groupIdList, userIdList } from '../permissions/id-lists.js';
import { lockGroups } from '../permissions/lock-groups.js';
import { permissionsAmong, permissionValueParameters } from '../permissions/permission-parameters.js';
import { namedIn } from '../permissions/plan-permission.js';
import { applyGroupChange } from './group-change.js';
import { readGroupFacts } from './group-facts.js';
import { description } from './group-parameters.js';
import { writeGroup } from './group-record.js';
import { listGroups } from './group-store.js';
import { type PlannedGroup, planGroupCreation } from './plan-group-creation.js';

/**
 * `POST /api/v1/user_groups/create`: creates a group with members, subgroups and permissions. Omitted permissions get
 * their defaults; some default to the creator. The creator becomes a member only if listed in the request. Publishes
 * an event to all users.
 *
 * Errors: BAD_REQUEST for guests, requesters without the permission to create groups, unknown and deactivated members
 * or subgroups, an invalid name, a name that another group has (case-insensitive), and permission values that are not
 * allowed.
 */
export const createUserGroup = operation({
  method: 'POST',
  path: '/api/v1/user_groups/create',
  summary: 'Creates a user group.',
  actor: nonGuest,
  parameters: z.object({
    name: z.string(),
    description,
    members: jsonParameter(userIdList),
    subgroups: optionalJsonParameter(groupIdList),
    ...permissionValueParameters('group'),
  }),
  answer: z.object({ group_id: z.number().int() }),
  codes: ['BAD_REQUEST'],
  async handle({ clock, publish }: ServerContext, { actor, parameters }) {
    const { name, description, members: memberIds, subgroups: subgroupIds = [] } = parameters;
    const permissions = permissionsAmong('group', parameters);
    const named = namedIn(Object.values(permissions).flatMap((value) => value ?? []));
    const now = clock();
    const work = async (transaction: ServerTransaction, locked: KnownUser) => {
      const facts = await readGroupFacts(transaction, {
        actor: locked,
        name: name.trim(),
        userIds: [...memberIds, ...named.userIds],
        groupIds: [...subgroupIds, ...named.groupIds],
      });
      const requested = { name, description, memberIds, subgroupIds, permissions };
      const groupId = await insertGroup(transaction, planGroupCreation(facts, requested), now);
      const [group] = (await listGroups(transaction.db, [groupId])).map(writeGroup);
      if (group === undefined) throw new Error('the group that was just created does not exist');
      await publish(transaction, [{ event: { type: 'user_group', op: 'add', group }, audience: 'everyone' }]);
      return { group_id: groupId };
    };
    return actor.changeMany(memberIds.length + named.userIds.length, work, lockGroups);
  },
});

async function insertGroup({ db }: ServerTransaction, group: PlannedGroup, now: number): Promise<GroupId> {
  const { name, description, creatorId, memberIds, subgroupIds, permissions } = group;
  const { id } = await db
    .insertInto('user_groups')
    .values({
      name,
      name_lower: name.toLowerCase(),
      description,
      is_system: 0,
      is_active: 1,
      creator_id: creatorId,
      created_at: now,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  await applyGroupChange(db, {
    groupId: id,
    permissions,
    addedMembers: memberIds,
    addedSubgroups: subgroupIds,
  });
  return id;
}
