import { describe, expect, it } from 'vitest';
import { type PermissionSetting, realmPermissions } from '#server/people/permissions/permission-settings.js';
import { eachBackend } from '../../../support/test-databases.js';
import { sharedOrganisation } from '../organisation-under-test.js';

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  const state = async (types = ['realm']) =>
    organisation.do('guest', 'POST', 'register', { fetch_event_types: types });
  const set = (fields: Record<string, unknown>, who: 'owner' | 'administrator' = 'owner') =>
    organisation.do(who, 'PATCH', 'realm', fields);

  describe('the settings of the organization', () => {
    it('are in the register response with their defaults', async () => {
      const { 'role:members': members, 'role:nobody': _, ...groups } = await organisation.groups();
      expect(await state()).toMatchObject({
        realm_description: '',
        realm_allow_message_editing: true,
        realm_message_content_edit_limit_seconds: 600,
        realm_message_content_delete_limit_seconds: 600,
        realm_move_messages_within_stream_limit_seconds: 604_800,
        realm_move_messages_between_streams_limit_seconds: 604_800,
        realm_message_edit_history_visibility_policy: 'all',
        realm_allow_edit_history: true,
        realm_topics_policy: 'allow_empty_topic',
        realm_mandatory_topics: false,
        realm_message_retention_days: -1,
        realm_waiting_period_threshold: 0,
        realm_enable_spectator_access: false,
        realm_require_unique_names: false,
        realm_name_changes_disabled: false,
        realm_email_changes_disabled: false,
        realm_emails_restricted_to_domains: false,
        realm_invite_required: true,
        realm_enable_read_receipts: false,
        realm_welcome_message_custom_text: '',
        realm_new_stream_announcements_stream_id: -1,
        realm_signup_announcements_stream_id: -1,
        realm_send_channel_events_messages: false,
        realm_inline_image_preview: true,
        realm_media_preview_size: 100,
        realm_require_e2ee_push_notifications: true,
        realm_inline_url_embed_preview: false,
        realm_default_code_block_language: '',
        realm_wildcard_mention_policy: 5,
        realm_can_create_groups: members?.id,
        realm_can_manage_all_groups: groups['role:owners']?.id,
        realm_can_delete_any_message_group: groups['role:administrators']?.id,
        realm_can_set_delete_message_policy_group: groups['role:moderators']?.id,
        realm_can_resolve_topics_group: groups['role:everyone']?.id,
      });
    });

    it('are sent only to clients that fetch them', async () => {
      const body = await state(['message']);
      expect(Object.keys(body).filter((name) => name.startsWith('realm_'))).toEqual([]);
      const groups = await state(['realm_user_groups']);
      expect(groups.realm_user_groups).toHaveLength(8);
    });

    it('come with the values that each permission allows', async () => {
      const { server_supported_permission_settings: all } = await state();
      expect(all).toMatchObject({
        realm: {
          can_create_web_public_channel_group: {
            require_system_group: true,
            allow_internet_group: false,
            allow_nobody_group: true,
            allow_everyone_group: false,
            default_group_name: 'role:owners',
            default_for_system_groups: null,
            allowed_system_groups: ['role:moderators', 'role:administrators', 'role:owners', 'role:nobody'],
          },
        },
        stream: { can_administer_channel_group: { default_group_name: 'channel_creator' } },
        group: {
          can_manage_group: {
            require_system_group: false,
            default_group_name: 'group_creator',
            default_for_system_groups: 'role:nobody',
            allowed_system_groups: [],
          },
        },
      });
    });

    it('change atomically, with one event for all users that has the changed settings, also under former names', async () => {
      const events = await organisation.watch('guest');
      const members = await organisation.roleGroup('members');
      await set({
        allow_message_editing: false,
        invite_required: true,
        topics_policy: 'disable_empty_topic',
        message_edit_history_visibility_policy: '"none"',
        message_content_edit_limit_seconds: 'unlimited',
        message_content_delete_limit_seconds: 60,
        can_mention_many_users_group: { new: members },
        can_create_groups: { new: members },
      });
      const data = {
        allow_message_editing: false,
        message_content_edit_limit_seconds: null,
        message_content_delete_limit_seconds: 60,
        message_edit_history_visibility_policy: 'none',
        allow_edit_history: false,
        topics_policy: 'disable_empty_topic',
        mandatory_topics: true,
        can_mention_many_users_group: members,
        wildcard_mention_policy: 2,
      };
      expect(await events()).toEqual([{ type: 'realm', op: 'update_dict', property: 'default', data }]);
      const told = Object.entries(data).map(([name, value]) => [`realm_${name}`, value]);
      expect(await state()).toMatchObject(Object.fromEntries(told));
      await set({ allow_message_editing: true });
      const stored = organisation.server.server.database.db.selectFrom('realm_settings').select('name');
      expect((await stored.execute()).map(({ name }) => name)).not.toContain('allow_message_editing');
    });

    it('publish no event if they stay the same', async () => {
      const events = await organisation.watch();
      await set({ invite_required: true, description: '' });
      expect(await events()).toEqual([]);
    });

    it('keep a limit for null, which clients send for an omitted parameter', async () => {
      await set({ move_messages_within_stream_limit_seconds: 60 });
      const events = await organisation.watch();
      await set({ move_messages_within_stream_limit_seconds: null, message_retention_days: null });
      expect(await events()).toEqual([]);
      expect(await state()).toMatchObject({
        realm_move_messages_within_stream_limit_seconds: 60,
        realm_message_retention_days: -1,
      });
    });

    it.each([
      ['unlimited', -1],
      ['"unlimited"', -1],
      ['30', 30],
    ])('accept %s as the retention of messages', async (written, days) => {
      await set({ message_retention_days: written });
      expect((await state()).realm_message_retention_days).toBe(days);
    });

    it('can be changed by administrators, and some only by owners', async () => {
      await set({ description: 'by an administrator' }, 'administrator');
      for (const who of ['moderator', 'member', 'guest', 'bot'] as const) {
        const { status, body } = await organisation.ask(who, 'PATCH', 'realm', { description: 'x' });
        expect([status, body.code]).toEqual([400, 'UNAUTHORIZED_PRINCIPAL']);
      }
      for (const [name, value] of [
        ['message_retention_days', 7],
        ['waiting_period_threshold', 7],
        ['invite_required', true],
        ['emails_restricted_to_domains', false],
        ['can_create_groups', { new: 1 }],
        ['can_manage_all_groups', { new: 1 }],
        ['can_invite_users_group', { new: 1 }],
        ['create_multiuse_invite_group', { new: 1 }],
      ] as const) {
        const { status, body } = await organisation.ask('administrator', 'PATCH', 'realm', { [name]: value });
        expect([name, status, body.code]).toEqual([name, 400, 'UNAUTHORIZED_PRINCIPAL']);
      }
      expect((await state()).realm_description).toBe('by an administrator');
    });

    it('update the full members if the waiting period changes, and publish this to all clients', async () => {
      const fullMembers = await organisation.roleGroup('fullmembers');
      const members = await organisation.roleGroup('members');
      const events = await organisation.watch('guest', { event_types: '["user_group"]' });
      const userIds = [organisation.id('member'), organisation.id('second'), organisation.id('bot')];
      await set({ waiting_period_threshold: 2 });
      const late = await organisation.server.addAccount('late@example.com');
      await set({ waiting_period_threshold: 0 });
      const all = (await organisation.groups())['role:fullmembers']?.members;
      const told = (op: string, user_ids: unknown, group_id = fullMembers) => {
        return { type: 'user_group', op, group_id, user_ids };
      };
      expect(all).toHaveLength(4);
      expect(await events()).toEqual([
        told('remove_members', userIds),
        told('add_members', [late.userId], members),
        told('add_members', all),
      ]);
    });
  });

  describe('a permission of the organization', () => {
    it.each(Object.keys(realmPermissions))(
      '%s accepts role:nobody, role:everyone and groups of users as declared',
      async (key) => {
        const name = key as keyof typeof realmPermissions;
        const row: PermissionSetting = realmPermissions[name];
        const groups = await organisation.groups();
        const group = { name: organisation.newName(), description: '', members: [] };
        const { group_id: custom } = await organisation.do('owner', 'POST', 'user_groups/create', group);
        const attempt = async (value: unknown) => {
          const { status, body } = await organisation.ask('owner', 'PATCH', 'realm', {
            [name]: { new: value },
          });
          return status === 200 ? 'set' : body.code;
        };
        const expected = (group: string, isAllowed: boolean) =>
          (row.onlyRoleGroups?.some((each) => each === group) ?? isAllowed) ? 'set' : 'BAD_REQUEST';
        for (const [group, isAllowed] of [
          ['role:nobody', row.allowsNoMembers],
          ['role:everyone', row.allowsEveryone],
          ['role:internet', false],
          ['role:moderators', true],
        ] as const) {
          expect([group, await attempt(groups[group]?.id)]).toEqual([group, expected(group, isAllowed)]);
        }
        const otherwise = row.onlyRoleGroups === undefined ? 'set' : 'SYSTEM_GROUP_REQUIRED';
        expect(await attempt(custom)).toBe(otherwise);
        const value = { direct_members: [organisation.id('second')], direct_subgroups: [custom] };
        expect(await attempt(value)).toBe(otherwise);
        if (otherwise === 'set') expect((await state())[`realm_${name}`]).toEqual(value);
        await set({ [name]: { new: groups[row.default]?.id } });
      },
    );

    it('is not changed if the request expects another value', async () => {
      const [members, owners] = [
        await organisation.roleGroup('members'),
        await organisation.roleGroup('owners'),
      ];
      await set({ can_add_custom_emoji_group: { new: owners } });
      const wish = { can_add_custom_emoji_group: { new: members, old: members } };
      const { status, body } = await organisation.ask('owner', 'PATCH', 'realm', wish);
      expect([status, body.code, body.field_name]).toEqual([400, 'EXPECTATION_MISMATCH', 'old']);
      await set({ can_add_custom_emoji_group: { new: members, old: null } });
      expect((await state()).realm_can_add_custom_emoji_group).toBe(members);
    });

    it('excludes deactivated users', async () => {
      const late = await organisation.server.addAccount('leaving@example.com');
      const value = { direct_members: [organisation.id('second'), late.userId], direct_subgroups: [] };
      await set({ can_add_custom_emoji_group: { new: value } });
      const { db } = organisation.server.server.database;
      await db.updateTable('users').set({ is_active: 0 }).where('id', '=', late.userId).execute();
      expect((await state()).realm_can_add_custom_emoji_group).toEqual({
        direct_members: [organisation.id('second')],
        direct_subgroups: [],
      });
      const again = await organisation.ask('owner', 'PATCH', 'realm', {
        can_create_bots_group: { new: value },
      });
      expect([again.status, again.body.msg]).toEqual([400, expect.stringContaining('deactivated')]);
    });
  });

  describe('a change of the organization', () => {
    it.each([
      ['description', 'd'.repeat(1001), 'BAD_REQUEST'],
      ['allow_message_editing', 'yes', 'BAD_REQUEST'],
      ['message_content_edit_limit_seconds', '0', 'BAD_REQUEST'],
      ['message_content_edit_limit_seconds', '-1', 'BAD_REQUEST'],
      ['message_content_delete_limit_seconds', 'soon', 'BAD_REQUEST'],
      ['move_messages_within_stream_limit_seconds', '1.5', 'BAD_REQUEST'],
      ['move_messages_between_streams_limit_seconds', '', 'BAD_REQUEST'],
      ['message_edit_history_visibility_policy', 'some', 'BAD_REQUEST'],
      ['topics_policy', 'inherit', 'BAD_REQUEST'],
      ['message_retention_days', '0', 'REQUEST_VARIABLE_INVALID'],
      ['message_retention_days', 'realm_default', 'REQUEST_VARIABLE_INVALID'],
      ['waiting_period_threshold', '-1', 'BAD_REQUEST'],
      ['waiting_period_threshold', '36501', 'BAD_REQUEST'],
      ['enable_spectator_access', '1', 'BAD_REQUEST'],
      ['require_unique_names', '', 'BAD_REQUEST'],
      ['name_changes_disabled', 'no', 'BAD_REQUEST'],
      ['email_changes_disabled', '"true"', 'BAD_REQUEST'],
      ['emails_restricted_to_domains', '[]', 'BAD_REQUEST'],
      ['emails_restricted_to_domains', 'true', 'BAD_REQUEST'],
      ['invite_required', 'no', 'BAD_REQUEST'],
      ['invite_required', 'false', 'BAD_REQUEST'],
      ['enable_read_receipts', 'True', 'BAD_REQUEST'],
      ['welcome_message_custom_text', 'w'.repeat(8001), 'BAD_REQUEST'],
      ['send_channel_events_messages', '0', 'BAD_REQUEST'],
      ['inline_image_preview', 'maybe', 'BAD_REQUEST'],
      ['inline_url_embed_preview', '{}', 'BAD_REQUEST'],
      ['default_code_block_language', 'l'.repeat(41), 'BAD_REQUEST'],
      ['can_create_groups', '7', 'BAD_REQUEST'],
      ['can_create_groups', '{"new":999999}', 'BAD_REQUEST'],
      ['can_create_groups', '{"old":1}', 'BAD_REQUEST'],
      ['can_create_groups', '{"new":{"direct_members":[]}}', 'BAD_REQUEST'],
      ['can_create_groups', '{"new":{"direct_members":["1"],"direct_subgroups":[]}}', 'BAD_REQUEST'],
    ])('is refused without side effects for %s = %.20s', async (name, value, code) => {
      const { queue_id: _, ...before } = await state();
      const fields = { inline_image_preview: 'false', [name]: value };
      const { status, body } = await organisation.ask('owner', 'PATCH', 'realm', fields);
      expect([status, body.code]).toEqual([400, code]);
      if (code === 'REQUEST_VARIABLE_INVALID') expect(body.var_name).toBe(name);
      expect(await state()).toEqual({ ...before, queue_id: expect.any(String) });
    });

    it('is refused without credentials', async () => {
      const { status, body } = await organisation.server.ask(undefined, 'PATCH', 'realm', {});
      expect([status, body.code]).toEqual([401, 'UNAUTHORIZED']);
    });
  });
});
