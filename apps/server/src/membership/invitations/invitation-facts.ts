import type { GroupId } from '@waxwing/protocol';
import { readChannelAccess } from '../../conversations/channels/channel-access.js';
import type { Channel } from '../../conversations/channels/channel-store.js';
import { findGroups } from '../../people/groups/group-store.js';
import { holdsPermissions, type PermissionHolder } from '../../people/permissions/permission-store.js';
import { wholeRealm } from '../../people/permissions/permission-tables.js';
import type { ServerTransaction } from '../../tables.js';
import type { InvitationFacts } from './plan-invitation.js';

const realmPermissions = [
  'create_multiuse_invite_group',
  'can_add_subscribers_group',
  'can_manage_all_groups',
] as const;
const groupPermissions = ['can_manage_group', 'can_add_members_group'] as const;

interface NamedInInvitation {
  /** The locked channels of the invitation. */
  readonly channels: readonly Channel[];
  readonly groupIds: readonly GroupId[];
}

/**
 * Reads the facts that the rules for invitations need. The facts stay valid until the transaction ends. The caller
 * must hold the locks on groups and on the actor.
 */
export async function readInvitationFacts(
  { db }: ServerTransaction,
  actor: PermissionHolder,
  { channels, groupIds }: NamedInInvitation,
): Promise<InvitationFacts> {
  const ofRealm = await holdsPermissions(
    db,
    actor,
    realmPermissions.map((name) => ({ level: 'realm' as const, ownerId: wholeRealm, name })),
  );
  const keys = groupIds.flatMap((ownerId) =>
    groupPermissions.map((name) => ({ level: 'group' as const, ownerId, name })),
  );
  const ofGroups = keys.length === 0 ? [] : await holdsPermissions(db, actor, keys);
  const groups = await findGroups(db, groupIds);
  return {
    actor,
    held: new Set(realmPermissions.filter((_, index) => ofRealm[index])),
    channels: await readChannelAccess(db, actor, channels),
    groups: new Map(groups.map((group) => [group.id, group])),
    addableGroupIds: new Set(keys.filter((_, index) => ofGroups[index]).map(({ ownerId }) => ownerId)),
  };
}
