import type { Table } from './targets.js';

export const server: Table = [
  ['authentication/authenticate', 'authentication', 'member-limits'],
  ['authentication/password-hash', 'sign-in/password-hash'],
  ['authentication/plan-sign-in-try', 'sign-in/plan-sign-in-try'],
  ['sign-in/address-failures', 'sign-in/address-failures'],
  ['downloads/signed-address', 'uploads/readers-of-files'],
  ['realm/public-access', 'uploads/files-on-the-web', 'messages/spectators'],
  ['users/deceptive-text', 'users/reserved-identity'],
  ['users/reserved-identity', 'users/reserved-identity'],
  ['users/user-store', 'authentication', '../../contracts/server-stores', '../../contracts/removed-users'],
  [
    'event-queues/event-queue-store',
    'event-queues',
    'event-queue-bounds',
    'event-queues-after-restore',
    '../../contracts/clean-up-in-small-steps',
  ],
];

export const chat: Table = [
  ['channel-administration/plan-channel-update', 'channel-administration/plan-channel-update-oracle'],
  ['channels/channel-privacy', 'channels/channel-privacy'],
  ['channels/channel-rules', 'channels/channel-rules-oracle'],
  ['channels/plan-channel-creation', 'subscriptions/plan-subscribing'],
  ['channels/realm-rights', 'subscriptions/plan-subscribing'],
  ['groups/group-rules', 'groups/plan-groups'],
  ['groups/plan-group-creation', 'groups/plan-groups'],
  ['groups/plan-group-update', 'groups/plan-groups'],
  ['groups/plan-member-update', 'groups/plan-groups'],
  [
    'messages/edit/move-rules',
    'messages/edit/plan-moves',
    'messages/edit/plan-edit',
    'messages/edit/plan-edit-oracle',
  ],
  [
    'messages/edit/plan-edit',
    'messages/edit/plan-edit',
    'messages/edit/plan-moves',
    'messages/edit/plan-edit-oracle',
  ],
  [
    'messages/message-access',
    'messages/message-access',
    'messages/hidden-messages',
    'messages/read-messages',
  ],
  ['messages/push/select-notified-users', 'messages/push/select-notified-users'],
  ['messages/removal/losses', 'messages/removal/losses', 'messages/edit/move-to-channel'],
  ['messages/removal/plan-removal', 'messages/removal/plan-removal'],
  ['permissions/plan-permission', 'permissions/plan-permission'],
  ['subscriptions/plan-subscribing', 'subscriptions/plan-subscribing'],
];
