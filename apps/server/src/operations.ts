import { serverPushOperations } from '@waxwing/server-push';
import {
  type AnyOperation,
  type BoundOperation,
  bindOperations,
  openApiOperation,
} from '@waxwing/service/http';
import type { ServerContext } from './context.js';
import { deleteEventQueue } from './event-queues/delete-event-queue.js';
import { getEvents } from './event-queues/get-events.js';
import { createUserGroup } from './groups/create-user-group.js';
import { deactivateUserGroup } from './groups/deactivate-user-group.js';
import { getGroupMembers } from './groups/get-group-members.js';
import { getGroupMembership } from './groups/get-group-membership.js';
import { getSubgroups } from './groups/get-subgroups.js';
import { listUserGroups } from './groups/list-user-groups.js';
import { updateGroupMembers } from './groups/update-group-members.js';
import { updateSubgroups } from './groups/update-subgroups.js';
import { updateUserGroup } from './groups/update-user-group.js';
import { createPlayground } from './playgrounds/create-playground.js';
import { deletePlayground } from './playgrounds/delete-playground.js';
import { listPlaygrounds } from './playgrounds/list-playgrounds.js';
import { createProfileField } from './profile-fields/create-profile-field.js';
import { deleteProfileField } from './profile-fields/delete-profile-field.js';
import { listProfileFields } from './profile-fields/list-profile-fields.js';
import { reorderProfileFields } from './profile-fields/reorder-profile-fields.js';
import { updateProfileField } from './profile-fields/update-profile-field.js';
import { updateRealm } from './realm/update-realm.js';
import { registerEventQueue } from './register/register-event-queue.js';
import { getOwnUser } from './users/get-own-user.js';
import { getUser } from './users/get-user.js';
import { getUsers } from './users/get-users.js';
import { removeOwnProfileValues } from './users/remove-own-profile-values.js';
import { updateOwnProfile } from './users/update-own-profile.js';
import { updateUser } from './users/update-user.js';

/** Every operation of the server's own; {@link serverPushOperations} are mounted beside them. */
const ownOperations: readonly AnyOperation<ServerContext>[] = [
  registerEventQueue,
  getEvents,
  deleteEventQueue,
  listUserGroups,
  createUserGroup,
  updateUserGroup,
  deactivateUserGroup,
  getGroupMembers,
  getGroupMembership,
  updateGroupMembers,
  getSubgroups,
  updateSubgroups,
  updateRealm,
  listPlaygrounds,
  createPlayground,
  deletePlayground,
  listProfileFields,
  createProfileField,
  reorderProfileFields,
  updateProfileField,
  deleteProfileField,
  updateOwnProfile,
  removeOwnProfileValues,
  getUsers,
  getOwnUser,
  getUser,
  updateUser,
];

/** Every operation of the server. */
export const serverOperations: readonly AnyOperation[] = [...ownOperations, ...serverPushOperations];

/** What the server's OpenAPI document says of it as a whole. */
export const serverApi = {
  title: 'Waxwing server',
  description: "An organisation's chat API, with end-to-end-encrypted mobile push.",
  version: '1',
};

/** The operations with what they work with. */
export function bindServerOperations(context: ServerContext): BoundOperation[] {
  const own = bindOperations(context, [...ownOperations, openApiOperation(serverApi, serverOperations)]);
  return [...own, ...context.serverPush.operations];
}
