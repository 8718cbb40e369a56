import { serverPushOperations } from '@waxwing/server-push';
import {
  type AnyOperation,
  type BoundOperation,
  bindOperations,
  openApiOperation,
} from '@waxwing/service/http';
import { deleteAvatar } from './avatars/delete-avatar.js';
import { getAvatar } from './avatars/get-avatar.js';
import { uploadAvatar } from './avatars/upload-avatar.js';
import { archiveChannel } from './channel-administration/archive-channel.js';
import { addDefaultChannel, removeDefaultChannel } from './channel-administration/change-default-channels.js';
import {
  createChannelFolder,
  listChannelFolders,
  reorderChannelFolders,
  updateChannelFolder,
} from './channel-administration/folders/folder-operations.js';
import { updateChannel } from './channel-administration/update-channel.js';
import { getChannel } from './channels/get-channel.js';
import { getChannelId } from './channels/get-channel-id.js';
import { getChannelMembers } from './channels/get-channel-members.js';
import { listChannels } from './channels/list-channels.js';
import type { ServerContext } from './context.js';
import { getSignedUpload } from './downloads/get-signed-upload.js';
import { getUpload } from './downloads/get-upload.js';
import { getUploadAddress } from './downloads/get-upload-address.js';
import { getEmojiData } from './emoji/get-emoji-data.js';
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
import { createInvitation } from './invitations/create-invitation.js';
import { getInvitations } from './invitations/get-invitations.js';
import { revokeInvitation } from './invitations/revoke-invitation.js';
import { getJoinPage, joinByInvitation } from './joining/join-operations.js';
import { createLinkifier } from './linkifiers/create-linkifier.js';
import { deleteLinkifier } from './linkifiers/delete-linkifier.js';
import { listLinkifiers } from './linkifiers/list-linkifiers.js';
import { reorderLinkifiers } from './linkifiers/reorder-linkifiers.js';
import { updateLinkifier } from './linkifiers/update-linkifier.js';
import { updateMessage } from './messages/edit/update-message.js';
import { updateFlags } from './messages/flags/update-flags.js';
import { updateFlagsOfNarrow } from './messages/flags/update-flags-of-narrow.js';
import { getMessage } from './messages/get-message.js';
import { getMessages } from './messages/get-messages.js';
import { getMessageHistory } from './messages/history/get-message-history.js';
import { deleteMessage } from './messages/removal/delete-message.js';
import { renderMessage } from './messages/render-message.js';
import { sendMessage } from './messages/send/send-message.js';
import { getTopics } from './messages/topics/get-topics.js';
import { updateSettings } from './own-settings/update-settings.js';
import { createPlayground } from './playgrounds/create-playground.js';
import { deletePlayground } from './playgrounds/delete-playground.js';
import { listPlaygrounds } from './playgrounds/list-playgrounds.js';
import { sendTyping } from './presence/send-typing.js';
import { updatePresence } from './presence/update-presence.js';
import { createProfileField } from './profile-fields/create-profile-field.js';
import { deleteProfileField } from './profile-fields/delete-profile-field.js';
import { listProfileFields } from './profile-fields/list-profile-fields.js';
import { reorderProfileFields } from './profile-fields/reorder-profile-fields.js';
import { updateProfileField } from './profile-fields/update-profile-field.js';
import { updateRealm } from './realm/update-realm.js';
import { getOwnUser } from './register/get-own-user.js';
import { registerEventQueue } from './register/register-event-queue.js';
import { getServerSettings } from './server-settings/get-server-settings.js';
import { fetchApiKey } from './sign-in/fetch-api-key.js';
import { getSubscriptionStatus } from './subscriptions/get-subscription-status.js';
import { listSubscriptions } from './subscriptions/list-subscriptions.js';
import { subscribe } from './subscriptions/subscribe.js';
import { unsubscribe } from './subscriptions/unsubscribe.js';
import { updateSubscriptions } from './subscriptions/update-subscriptions.js';
import { updateUserTopic } from './subscriptions/update-user-topic.js';
import { deleteAttachment } from './uploads/delete-attachment.js';
import { listAttachments } from './uploads/list-attachments.js';
import { uploadFile } from './uploads/upload-file.js';
import {
  deactivateOwnUser,
  deactivateUser,
  reactivateUser,
} from './user-administration/user-activity-operations.js';
import { getUser } from './users/get-user.js';
import { getUsers } from './users/get-users.js';
import { removeOwnProfileValues } from './users/remove-own-profile-values.js';
import { updateOwnProfile } from './users/update-own-profile.js';
import { updateUser } from './users/update-user.js';

/**
 * The operations of docs/chat-api.md, in its order, and the event queues that they presume. {@link serverPushOperations}
 * has one more of them, push registration.
 */
const contractOperations: readonly AnyOperation<ServerContext>[] = [
  updateMessage,
  getMessageHistory,
  updateChannel,
  updateUser,
  createProfileField,
  createInvitation,
  getUsers,
  createPlayground,
  deleteEventQueue,
  registerEventQueue,
  getEvents,
];

/** Operations that stock clients expect besides. */
const stockClientOperations: readonly AnyOperation<ServerContext>[] = [
  getServerSettings,
  getEmojiData,
  fetchApiKey,
  listUserGroups,
  createUserGroup,
  updateUserGroup,
  deactivateUserGroup,
  getGroupMembers,
  getGroupMembership,
  updateGroupMembers,
  getSubgroups,
  updateSubgroups,
  deleteMessage,
  updateRealm,
  sendMessage,
  getMessages,
  getMessage,
  updateFlags,
  updateFlagsOfNarrow,
  renderMessage,
  getTopics,
  listPlaygrounds,
  deletePlayground,
  listLinkifiers,
  createLinkifier,
  updateLinkifier,
  deleteLinkifier,
  reorderLinkifiers,
  listProfileFields,
  reorderProfileFields,
  updateProfileField,
  deleteProfileField,
  updateOwnProfile,
  removeOwnProfileValues,
  getOwnUser,
  getUser,
  deactivateOwnUser,
  deactivateUser,
  reactivateUser,
  uploadAvatar,
  deleteAvatar,
  getAvatar,
  uploadFile,
  getUpload,
  getUploadAddress,
  getSignedUpload,
  listAttachments,
  deleteAttachment,
  getInvitations,
  revokeInvitation,
  getJoinPage,
  joinByInvitation,
  listSubscriptions,
  subscribe,
  unsubscribe,
  updateSubscriptions,
  getSubscriptionStatus,
  updateUserTopic,
  addDefaultChannel,
  removeDefaultChannel,
  listChannelFolders,
  createChannelFolder,
  updateChannelFolder,
  reorderChannelFolders,
  listChannels,
  getChannel,
  archiveChannel,
  getChannelId,
  getChannelMembers,
  updateSettings,
  updatePresence,
  sendTyping,
];

const ownOperations = [...contractOperations, ...stockClientOperations];

/** Every operation of the server. */
export const serverOperations: readonly AnyOperation[] = [...ownOperations, ...serverPushOperations];

/** The general part of the server's OpenAPI document. */
export const serverApi = {
  title: 'Waxwing server',
  description: "An organization's chat API, with end-to-end-encrypted mobile push.",
  version: '1',
};

/** Binds the operations to their context. */
export function bindServerOperations(context: ServerContext): BoundOperation[] {
  const own = bindOperations(context, [...ownOperations, openApiOperation(serverApi, serverOperations)]);
  return [...own, ...context.serverPush.operations];
}
