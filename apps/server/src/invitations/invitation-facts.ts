import { readChannelAccess } from '../channels/channel-access.js';
import { lockChannels } from '../channels/channel-store.js';
import { findGroups } from '../groups/group-store.js';
import { holdsPermissions, type PermissionHolder } from '../permissions/permission-store.js';
import { wholeRealm } from '../permissions/permission-tables.js';
import type { ServerTransaction } from '../tables.js';
import type { InvitationTerms } from './invitation-store.js';
import type { InvitationFacts } from './plan-invitation.js';

const realmPermissions = [
  'create_multiuse_invite_group',
  'can_add_subscribers_group',
  'can_manage_all_groups',
] as const;
const groupPermissions = ['can_manage_group', 'can_add_members_group'] as const;

/** Reads the facts for an invitation; they stay so until the transaction ends. The caller holds groups and actor. */
export async function readInvitationFacts(
  transaction: ServerTransaction,
  actor: PermissionHolder,
  { channelIds, groupIds }: Pick<InvitationTerms, 'channelIds' | 'groupIds'>,
): Promise<InvitationFacts> {
  const { db } = transaction;
  const ofRealm = await holdsPermissions(
    db,
    actor,
    realmPermissions.map((name) => ({ level: 'realm' as const, ownerId: wholeRealm, name })),
  );
  const keys = groupIds.flatMap((ownerId) =>
    groupPermissions.map((name) => ({ level: 'group' as const, ownerId, name })),
  );
  const ofGroups = keys.length === 0 ? [] : await holdsPermissions(db, actor, keys);
  const channels = channelIds.length === 0 ? [] : await lockChannels(transaction, channelIds);
  const groups = await findGroups(db, groupIds);
  return {
    actor,
    held: new Set(realmPermissions.filter((_, index) => ofRealm[index])),
    channels: await readChannelAccess(db, actor, channels),
    groups: new Map(groups.map((group) => [group.id, group])),
    addableGroupIds: new Set(keys.filter((_, index) => ofGroups[index]).map(({ ownerId }) => ownerId)),
  };
}
