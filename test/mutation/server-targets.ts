import type { Table } from './targets.js';

export const server: Table = [
  ['platform/authentication/authenticate', 'authentication', 'member-limits'],
  ['platform/authentication/password-hash', 'sign-in/password-hash'],
  ['platform/authentication/plan-sign-in-try', 'sign-in/plan-sign-in-try'],
  ['membership/sign-in/address-failures', 'sign-in/address-failures'],
  ['conversations/downloads/signed-address', 'uploads/readers-of-files'],
  ['people/realm/public-access', 'uploads/files-on-the-web', 'messages/spectators'],
  ['people/users/deceptive-text', 'users/reserved-identity'],
  ['people/users/reserved-identity', 'users/reserved-identity'],
  [
    'people/users/user-store',
    'authentication',
    '../../contracts/server-stores',
    '../../contracts/removed-users',
  ],
  [
    'platform/event-queues/event-queue-store',
    'event-queues',
    'event-queue-bounds',
    'event-queues-after-restore',
    '../../contracts/clean-up-in-small-steps',
  ],
];

export const chat: Table = [
  [
    'conversations/channel-administration/plan-channel-update',
    'channel-administration/plan-channel-update-oracle',
  ],
  ['conversations/channels/channel-privacy', 'channels/channel-privacy'],
  ['conversations/channels/channel-rules', 'channels/channel-rules-oracle'],
  ['conversations/channels/plan-channel-creation', 'subscriptions/plan-subscribing'],
  ['conversations/channels/realm-rights', 'subscriptions/plan-subscribing'],
  ['people/groups/group-rules', 'groups/plan-groups'],
  ['people/groups/plan-group-creation', 'groups/plan-groups'],
  ['people/groups/plan-group-update', 'groups/plan-groups'],
  ['people/groups/plan-member-update', 'groups/plan-groups'],
  [
    'conversations/messages/edit/move-rules',
    'messages/edit/plan-moves',
    'messages/edit/plan-edit',
    'messages/edit/plan-edit-oracle',
  ],
  [
    'conversations/messages/edit/plan-edit',
    'messages/edit/plan-edit',
    'messages/edit/plan-moves',
    'messages/edit/plan-edit-oracle',
  ],
  [
    'conversations/messages/message-access',
    'messages/message-access',
    'messages/hidden-messages',
    'messages/read-messages',
  ],
  ['conversations/messages/push/select-notified-users', 'messages/push/select-notified-users'],
  ['conversations/messages/removal/losses', 'messages/removal/losses', 'messages/edit/move-to-channel'],
  ['conversations/messages/removal/plan-removal', 'messages/removal/plan-removal'],
  ['people/permissions/plan-permission', 'permissions/plan-permission'],
  ['conversations/subscriptions/plan-subscribing', 'subscriptions/plan-subscribing'],
];
