import { serverPushOperations } from '@waxwing/server-push';
import {
  type AnyOperation,
  type BoundOperation,
  bindOperations,
  openApiOperation,
  referenceOperation,
} from '@waxwing/service/http';
import { deleteAvatar } from './content/avatars/delete-avatar.js';
import { getAvatar } from './content/avatars/get-avatar.js';
import { uploadAvatar } from './content/avatars/upload-avatar.js';
import { getEmojiData } from './content/emoji/get-emoji-data.js';
import { createLinkifier } from './content/linkifiers/create-linkifier.js';
import { deleteLinkifier } from './content/linkifiers/delete-linkifier.js';
import { listLinkifiers } from './content/linkifiers/list-linkifiers.js';
import { reorderLinkifiers } from './content/linkifiers/reorder-linkifiers.js';
import { updateLinkifier } from './content/linkifiers/update-linkifier.js';
import { createPlayground } from './content/playgrounds/create-playground.js';
import { deletePlayground } from './content/playgrounds/delete-playground.js';
import { listPlaygrounds } from './content/playgrounds/list-playgrounds.js';
import { deleteAttachment } from './content/uploads/delete-attachment.js';
import { listAttachments } from './content/uploads/list-attachments.js';
import { uploadFile } from './content/uploads/upload-file.js';
import type { ServerContext } from './context.js';
import { archiveChannel } from './conversations/channel-administration/archive-channel.js';
import {
  addDefaultChannel,
  removeDefaultChannel,
} from './conversations/channel-administration/change-default-channels.js';
import {
  createChannelFolder,
  listChannelFolders,
  reorderChannelFolders,
  updateChannelFolder,
} from './conversations/channel-administration/folders/folder-operations.js';
import { updateChannel } from './conversations/channel-administration/update-channel.js';
import { getChannel } from './conversations/channels/get-channel.js';
import { getChannelId } from './conversations/channels/get-channel-id.js';
import { getChannelMembers } from './conversations/channels/get-channel-members.js';
import { listChannels } from './conversations/channels/list-channels.js';
import { getSignedUpload } from './conversations/downloads/get-signed-upload.js';
import { getUpload } from './conversations/downloads/get-upload.js';
import { getUploadAddress } from './conversations/downloads/get-upload-address.js';
import { updateMessage } from './conversations/messages/edit/update-message.js';
import { updateFlags } from './conversations/messages/flags/update-flags.js';
import { updateFlagsOfNarrow } from './conversations/messages/flags/update-flags-of-narrow.js';
import { getMessage } from './conversations/messages/get-message.js';
import { getMessages } from './conversations/messages/get-messages.js';
import { getMessageHistory } from './conversations/messages/history/get-message-history.js';
import { deleteMessage } from './conversations/messages/removal/delete-message.js';
import { renderMessage } from './conversations/messages/render-message.js';
import { sendMessage } from './conversations/messages/send/send-message.js';
import { getTopics } from './conversations/messages/topics/get-topics.js';
import { sendTyping } from './conversations/presence/send-typing.js';
import { updatePresence } from './conversations/presence/update-presence.js';
import { getSubscriptionStatus } from './conversations/subscriptions/get-subscription-status.js';
import { getUserChannels } from './conversations/subscriptions/get-user-channels.js';
import { listSubscriptions } from './conversations/subscriptions/list-subscriptions.js';
import { subscribe } from './conversations/subscriptions/subscribe.js';
import { unsubscribe } from './conversations/subscriptions/unsubscribe.js';
import { updateSubscriptions } from './conversations/subscriptions/update-subscriptions.js';
import { updateUserTopic } from './conversations/subscriptions/update-user-topic.js';
import { createInvitation } from './membership/invitations/create-invitation.js';
import { getInvitations } from './membership/invitations/get-invitations.js';
import { revokeInvitation } from './membership/invitations/revoke-invitation.js';
import { getJoinPage, joinByInvitation } from './membership/joining/join-operations.js';
import { regenerateApiKey } from './membership/own-settings/regenerate-api-key.js';
import { updateSettings } from './membership/own-settings/update-settings.js';
import { fetchApiKey } from './membership/sign-in/fetch-api-key.js';
import { updateUser } from './membership/user-administration/update-user.js';
import {
  deactivateOwnUser,
  deactivateUser,
  reactivateUser,
} from './membership/user-administration/user-activity-operations.js';
import { createUserGroup } from './people/groups/create-user-group.js';
import { deactivateUserGroup } from './people/groups/deactivate-user-group.js';
import { getGroupMembers } from './people/groups/get-group-members.js';
import { getGroupMembership } from './people/groups/get-group-membership.js';
import { getSubgroups } from './people/groups/get-subgroups.js';
import { listUserGroups } from './people/groups/list-user-groups.js';
import { updateGroupMembers } from './people/groups/update-group-members.js';
import { updateSubgroups } from './people/groups/update-subgroups.js';
import { updateUserGroup } from './people/groups/update-user-group.js';
import { createProfileField } from './people/profile-fields/create-profile-field.js';
import { deleteProfileField } from './people/profile-fields/delete-profile-field.js';
import { listProfileFields } from './people/profile-fields/list-profile-fields.js';
import { reorderProfileFields } from './people/profile-fields/reorder-profile-fields.js';
import { updateProfileField } from './people/profile-fields/update-profile-field.js';
import { updateRealm } from './people/realm/update-realm.js';
import { getUser } from './people/users/get-user.js';
import { getUsers } from './people/users/get-users.js';
import { removeOwnProfileValues } from './people/users/remove-own-profile-values.js';
import { updateOwnProfile } from './people/users/update-own-profile.js';
import { deleteEventQueue } from './platform/event-queues/delete-event-queue.js';
import { getEvents } from './platform/event-queues/get-events.js';
import {
  addLegacyApnsToken,
  addLegacyFcmToken,
  removeLegacyApnsToken,
  removeLegacyFcmToken,
} from './push/legacy-registration.js';
import { getOwnUser } from './register/get-own-user.js';
import { registerEventQueue } from './register/register-event-queue.js';
import { getServerSettings } from './server-settings/get-server-settings.js';

/**
 * The operations that docs/chat-api.md specifies, in the same order, and the event queue operations that they
 * require. Push registration is in {@link serverPushOperations}.
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

/** Additional operations that stock clients expect. */
const stockClientOperations: readonly AnyOperation<ServerContext>[] = [
  getServerSettings,
  getEmojiData,
  fetchApiKey,
  regenerateApiKey,
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
  getUserChannels,
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
  addLegacyFcmToken,
  removeLegacyFcmToken,
  addLegacyApnsToken,
  removeLegacyApnsToken,
];

const ownOperations = [...contractOperations, ...stockClientOperations];

export const serverOperations: readonly AnyOperation[] = [...ownOperations, ...serverPushOperations];

/** The title and description of the server's OpenAPI document. */
export const serverApi = {
  title: 'Waxwing server',
  description: "An organization's chat API, with end-to-end-encrypted mobile push.",
  version: '1',
};

/** Binds the operations to their context. */
export function bindServerOperations(context: ServerContext): BoundOperation[] {
  const own = bindOperations(context, [
    ...ownOperations,
    openApiOperation(serverApi, serverOperations),
    referenceOperation(serverApi, serverOperations),
  ]);
  return [...own, ...context.serverPush.operations];
}
