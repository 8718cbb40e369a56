import { expect } from 'vitest';
import { anyId, type Row } from './python-rows.js';

const linkifier = {
  id: anyId,
  pattern: '#(?P<id>[0-9]+)',
  url_template: 'https://tracker.example.com/{id}',
  example_input: null,
  reverse_template: null,
  alternative_url_templates: [],
};

export const administering: readonly Row[] = [
  [
    'update_stream',
    ({ channel, group }) => ({
      method: 'PATCH',
      path: `streams/${channel}`,
      parameters: {
        stream_id: channel,
        is_private: true,
        description: 'Grün',
        message_retention_days: 'unlimited',
        can_send_message_group: { new: { direct_members: [], direct_subgroups: [group] } },
      },
    }),
    { ignored_parameters_unsupported: ['stream_id'] },
  ],
  [
    'create_realm_profile_field',
    () => ({
      method: 'POST',
      path: 'realm/profile_fields',
      parameters: {
        name: 'Éditeur',
        hint: 'Vim, or ‘Emacs’',
        field_type: 3,
        required: false,
        field_data: { vim: { text: 'Vim', order: '1' }, emacs: { text: 'Emacs', order: '2' } },
      },
    }),
    { id: anyId },
  ],
  [
    'update_realm_profile_field',
    ({ field }) => ({
      method: 'PATCH',
      path: `realm/profile_fields/${field}`,
      parameters: { name: 'Phone', hint: 'number', editable_by_user: true },
    }),
    {},
  ],
  [
    'a user by its address',
    ({ field }) => ({
      method: 'PATCH',
      path: 'users/member@example.com',
      parameters: {
        full_name: 'Zoë O’Neil',
        role: 300,
        profile_data: [{ id: field, value: 'été & “more”' }],
      },
    }),
    {},
  ],
  [
    'update_user_by_id',
    ({ member }) => ({ method: 'PATCH', path: `users/${member}`, parameters: { role: 400 } }),
    {},
  ],
  ['deactivate_user_by_id', ({ member }) => ({ method: 'DELETE', path: `users/${member}` }), {}],
  ['reactivate_user_by_id', ({ member }) => ({ method: 'POST', path: `users/${member}/reactivate` }), {}],
  [
    'an invitation',
    ({ channel, group }) => ({
      method: 'POST',
      path: 'invites/multiuse',
      parameters: {
        invite_expires_in_minutes: 14_400,
        invite_as: 600,
        include_realm_default_subscriptions: false,
        stream_ids: [channel],
        group_ids: [group],
        welcome_message_custom_text: undefined,
      },
    }),
    { invite_link: expect.stringContaining('/join/') },
  ],
  [
    'a playground',
    () => ({
      method: 'POST',
      path: 'realm/playgrounds',
      parameters: {
        name: 'Python playground',
        pygments_language: 'Python',
        url_template: 'https://python.example.com{?code}',
      },
    }),
    { id: anyId },
  ],
  [
    'add_realm_filter',
    () => ({
      method: 'POST',
      path: 'realm/filters',
      parameters: { pattern: '#(?P<id>[0-9]+)', url_template: 'https://tracker.example.com/{id}' },
    }),
    { id: anyId },
  ],
  ['get_realm_linkifiers', () => ({ method: 'GET', path: 'realm/linkifiers' }), { linkifiers: [linkifier] }],
  [
    'remove_realm_profile_field',
    ({ field }) => ({ method: 'DELETE', path: `realm/profile_fields/${field}` }),
    {},
  ],
  ['delete_stream', ({ channel }) => ({ method: 'DELETE', path: `streams/${channel}` }), {}],
];
