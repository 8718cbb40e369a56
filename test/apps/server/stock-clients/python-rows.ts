import { expect } from 'vitest';
import type { PythonRequest } from './python-client.js';

/** Ids and names that the requests use. The message is in the channel. */
export interface World {
  readonly owner: number;
  readonly member: number;
  readonly channel: number;
  readonly message: number;
  readonly queue: string;
  readonly field: number;
  readonly group: number;
}
type Answer = Readonly<Record<string, unknown>>;
export type Row = readonly [name: string, request: (world: World) => PythonRequest, answer: Answer];

export const anyId = expect.any(Number);
const some = expect.arrayContaining([expect.anything()]);

export const reading: readonly Row[] = [
  ['get_profile', () => ({ method: 'GET', path: 'users/me' }), { user_id: anyId }],
  [
    'get_members',
    ({ member }) => ({
      method: 'GET',
      path: 'users',
      parameters: { client_gravatar: true, include_custom_profile_fields: true, user_ids: [member] },
    }),
    { members: [expect.objectContaining({ avatar_url: null, profile_data: {} })] },
  ],
  [
    'get_user_by_id',
    ({ member }) => ({
      method: 'GET',
      path: `users/${member}`,
      parameters: { include_custom_profile_fields: false },
    }),
    { user: expect.objectContaining({ is_bot: false }) },
  ],
  [
    'get_streams',
    () => ({ method: 'GET', path: 'streams', parameters: { include_public: true, include_all: undefined } }),
    { streams: some },
  ],
  [
    'get_stream_id',
    () => ({ method: 'GET', path: 'get_stream_id', parameters: { stream: 'blue & green (été)' } }),
    { stream_id: anyId },
  ],
  [
    'get_stream_topics',
    ({ channel }) => ({ method: 'GET', path: `users/me/${channel}/topics` }),
    { topics: some },
  ],
  [
    'get_subscribers',
    ({ channel }) => ({ method: 'GET', path: `streams/${channel}/members`, parameters: { stream: 'x' } }),
    { subscribers: [anyId], ignored_parameters_unsupported: ['stream'] },
  ],
  [
    'get_subscriptions',
    () => ({
      method: 'GET',
      path: 'users/me/subscriptions',
      parameters: { include_subscribers: true },
    }),
    { subscriptions: [expect.objectContaining({ subscribers: [anyId] })] },
  ],
  [
    'get_subscription_status',
    ({ owner, channel }) => ({ method: 'GET', path: `users/${owner}/subscriptions/${channel}` }),
    { is_subscribed: true },
  ],
  ['get_user_groups', () => ({ method: 'GET', path: 'user_groups' }), { user_groups: some }],
  [
    'get_realm_profile_fields',
    () => ({ method: 'GET', path: 'realm/profile_fields' }),
    { custom_fields: some },
  ],
  ['get_attachments', () => ({ method: 'GET', path: 'attachments' }), { attachments: [] }],
  [
    'get_messages',
    () => ({
      method: 'GET',
      path: 'messages',
      parameters: {
        anchor: 'newest',
        num_before: 100,
        num_after: 0,
        apply_markdown: false,
        narrow: [
          { operator: 'stream', operand: 'blue & green (été)' },
          { operator: 'topic', operand: 'A+B = 100%' },
        ],
      },
    }),
    { found_newest: true, messages: [expect.objectContaining({ content: 'Zwölf *Boxkämpfer* ✔' })] },
  ],
  [
    'get_raw_message',
    ({ message }) => ({ method: 'GET', path: `messages/${message}` }),
    { raw_content: 'Zwölf *Boxkämpfer* ✔' },
  ],
  [
    'get_message_history',
    ({ message }) => ({ method: 'GET', path: `messages/${message}/history` }),
    { message_history: [expect.objectContaining({ topic: 'A+B = 100%' })] },
  ],
  [
    'get_events',
    ({ queue }) => ({
      method: 'GET',
      path: 'events',
      parameters: { queue_id: queue, last_event_id: -1, dont_block: true },
    }),
    { events: expect.any(Array) },
  ],
];

export const writing: readonly Row[] = [
  [
    'register',
    () => ({ method: 'POST', path: 'register', parameters: { narrow: [] } }),
    { last_event_id: -1 },
  ],
  [
    'register of some types',
    () => ({
      method: 'POST',
      path: 'register',
      parameters: {
        event_types: ['message'],
        narrow: [['stream', 'blue & green (été)']],
        all_public_streams: true,
        client_capabilities: { notification_settings_null: true, later_than_this_server: true },
      },
    }),
    { queue_id: expect.any(String) },
  ],
  [
    'send_message to a person',
    ({ member }) => ({
      method: 'POST',
      path: 'messages',
      parameters: { type: 'private', to: [member], content: 'a & b; c=d' },
    }),
    { id: anyId },
  ],
  [
    'send_message to addresses',
    () => ({
      method: 'POST',
      path: 'messages',
      parameters: { type: 'private', to: ['member@example.com', 'second@example.com'], content: 'e' },
    }),
    { id: anyId },
  ],
  [
    'render_message',
    () => ({ method: 'POST', path: 'messages/render', parameters: { content: '**ü**' } }),
    { rendered: '<p><strong>ü</strong></p>' },
  ],
  [
    'update_message_flags',
    ({ message }) => ({
      method: 'POST',
      path: 'messages/flags',
      parameters: { messages: [message], op: 'add', flag: 'starred' },
    }),
    { messages: [anyId] },
  ],
  [
    'update_message',
    ({ message }) => ({
      method: 'PATCH',
      path: `messages/${message}`,
      parameters: {
        message_id: message,
        topic: 'moved',
        propagate_mode: 'change_all',
        send_notification_to_old_thread: false,
        send_notification_to_new_thread: false,
      },
    }),
    { detached_uploads: [], ignored_parameters_unsupported: ['message_id'] },
  ],
  [
    'upload_file',
    () => ({ method: 'POST', path: 'user_uploads', file: { name: './a folder/été 1.txt', content: 'x' } }),
    { url: expect.stringMatching(/^\/user_uploads\//), filename: 'été 1.txt' },
  ],
  [
    'set_typing_status',
    ({ member }) => ({ method: 'POST', path: 'typing', parameters: { op: 'start', to: [member] } }),
    {},
  ],
  [
    'update_presence',
    () => ({
      method: 'POST',
      path: 'users/me/presence',
      parameters: { status: 'active', ping_only: false, new_user_input: false },
    }),
    { presences: {} },
  ],
  [
    'update_user_topic',
    ({ channel }) => ({
      method: 'POST',
      path: 'user_topics',
      parameters: { stream_id: channel, topic: 'moved', visibility_policy: 3 },
    }),
    {},
  ],
  [
    'update_subscription_settings',
    ({ channel }) => ({
      method: 'POST',
      path: 'users/me/subscriptions/properties',
      parameters: { subscription_data: [{ stream_id: channel, property: 'pin_to_top', value: true }] },
    }),
    {},
  ],
  [
    'update_user_settings',
    () => ({
      method: 'PATCH',
      path: 'settings',
      parameters: { timezone: 'Europe/Paris', enter_sends: true },
    }),
    {},
  ],
  [
    'add_subscriptions',
    ({ member }) => ({
      method: 'POST',
      path: 'users/me/subscriptions',
      parameters: { subscriptions: [{ name: 'new “one”', description: 'a, b' }], principals: [member] },
    }),
    { subscribed: expect.anything() },
  ],
  [
    'remove_subscriptions',
    () => ({
      method: 'DELETE',
      path: 'users/me/subscriptions',
      parameters: { subscriptions: ['new “one”'], principals: ['member@example.com'] },
    }),
    { removed: ['new “one”'], not_removed: [] },
  ],
  [
    'create_user_group',
    ({ member }) => ({
      method: 'POST',
      path: 'user_groups/create',
      parameters: { name: 'another', description: 'group', members: [member] },
    }),
    {},
  ],
  [
    'update_user_group_members',
    ({ group, member }) => ({
      method: 'POST',
      path: `user_groups/${group}/members`,
      parameters: { add: [member] },
    }),
    {},
  ],
  [
    'update_user_group',
    ({ group }) => ({
      method: 'PATCH',
      path: `user_groups/${group}`,
      parameters: { group_id: group, name: 'renamed', description: 'again' },
    }),
    { ignored_parameters_unsupported: ['group_id'] },
  ],
  ['delete_message', ({ message }) => ({ method: 'DELETE', path: `messages/${message}` }), {}],
  ['deregister', ({ queue }) => ({ method: 'DELETE', path: 'events', parameters: { queue_id: queue } }), {}],
];
