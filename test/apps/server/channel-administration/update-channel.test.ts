import { beforeEach, describe, expect, it } from 'vitest';
import { eachBackend } from '../../../support/test-databases.js';
import { sharedOrganisation } from '../organisation-under-test.js';
import { ChannelUnderTest } from './channel-under-test.js';

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  let channel: ChannelUnderTest;
  beforeEach(async () => {
    channel = new ChannelUnderTest(organisation);
  });

  const realm = (fields: Record<string, unknown>) => organisation.do('owner', 'PATCH', 'realm', fields);

  describe('changing a channel', () => {
    it('is allowed for its creator and for administrators', async () => {
      await channel.make('member');
      await channel.updated('member', { description: 'one' });
      await channel.updated('administrator', { description: 'two' });
      await channel.refuses(
        'second',
        { description: 'x' },
        'You do not have permission to administer this channel.',
      );
      await channel.refuses('guest', { description: 'x' }, 'Invalid channel ID');
    });

    it('is allowed for administrators in private channels, except for changes that require read access', async () => {
      await channel.make('member', { invite_only: true });
      await channel.updated('administrator', { description: 'one' });
      await channel.refuses('administrator', { is_private: false }, 'Channel content access is required.');
      await channel.refuses(
        'administrator',
        { can_subscribe_group: { new: await organisation.roleGroup('members') } },
        'Channel content access is required.',
      );
      await channel.refuses(
        'administrator',
        { can_add_subscribers_group: { new: await organisation.roleGroup('members') } },
        'Channel content access is required.',
      );
      await channel.updated('administrator', {
        can_send_message_group: { new: await organisation.roleGroup('members') },
        can_remove_subscribers_group: { new: await organisation.roleGroup('members') },
      });
      await channel.refuses('second', { description: 'x' }, 'Invalid channel ID');
    });

    it('fails for a channel that does not exist', async () => {
      const { status, body } = await organisation.ask('owner', 'PATCH', 'streams/999999', {
        description: 'x',
      });
      expect([status, body.msg]).toEqual([400, 'Invalid channel ID']);
    });
  });

  describe('privacy', () => {
    it('hides the history of a channel that becomes private, and shows it again when the channel becomes public', async () => {
      await channel.make();
      await channel.updated('member', { is_private: true });
      expect(await channel.read()).toMatchObject({ invite_only: true, history_public_to_subscribers: false });
      await channel.updated('member', { history_public_to_subscribers: true });
      expect(await channel.read()).toMatchObject({ invite_only: true, history_public_to_subscribers: true });
      await channel.updated('member', { is_private: false });
      expect(await channel.read()).toMatchObject({ invite_only: false, history_public_to_subscribers: true });
    });

    it.each([
      [{ history_public_to_subscribers: false }],
      [{ is_private: false, history_public_to_subscribers: false }],
      [{ is_private: true, is_web_public: true }],
      [{ is_web_public: true, history_public_to_subscribers: false }],
    ])('refuses %j', async (fields) => {
      await channel.make();
      await channel.refuses('owner', fields, 'Invalid parameters');
    });

    it('refuses to make a default channel private, or a private channel a default channel', async () => {
      await channel.make('owner', { is_default_stream: true });
      await channel.refuses('owner', { is_private: true }, 'A default channel cannot be private.');
      await channel.updated('owner', { is_private: true, is_default_stream: false });
      await channel.refuses('owner', { is_default_stream: true }, 'A default channel cannot be private.');
    });

    it('refuses to make the channel for moderation requests public', async () => {
      await channel.make('owner');
      const set = { moderation_request_channel_id: channel.id };
      const refused = await organisation.ask('owner', 'PATCH', 'realm', set);
      expect([refused.status, refused.body.msg]).toEqual([
        400,
        `moderation_request_channel_id is ${channel.id}: it must be the id of a private channel that is not archived, or -1`,
      ]);
      await channel.updated('owner', { is_private: true });
      await realm(set);
      await channel.refuses(
        'owner',
        { is_private: false },
        'The moderation request channel must be private.',
      );
      await organisation.do('owner', 'DELETE', `streams/${channel.id}`);
      const { realm_moderation_request_channel_id: now } = await organisation.do('owner', 'POST', 'register');
      expect(now).toBe(-1);
    });

    it.each([
      ['can_create_private_channel_group', false],
      ['can_create_public_channel_group', true],
    ])('requires %s to change', async (permission, isPrivate) => {
      await channel.make('member', { invite_only: isPrivate });
      await realm({ [permission]: { new: await organisation.roleGroup('nobody') } });
      await channel.refuses('member', { is_private: !isPrivate }, 'Insufficient permission');
      await realm({ [permission]: { new: await organisation.roleGroup('members') } });
      await channel.updated('member', { is_private: !isPrivate });
    });

    it('refuses web-public channels if the server does not offer them', async () => {
      await channel.make('owner');
      await realm({ enable_spectator_access: true });
      await channel.refuses('owner', { is_web_public: true }, 'Web-public channels are not enabled.');
      await realm({ enable_spectator_access: false });
    });

    it('requires that all users can start topics if history is protected', async () => {
      await channel.make('owner', { invite_only: true });
      const members = await organisation.roleGroup('members');
      await channel.refuses('owner', { can_create_topic_group: { new: members } }, 'Invalid parameters');
      await channel.updated('owner', {
        can_create_topic_group: { new: members },
        history_public_to_subscribers: true,
      });
    });
  });

  describe('topics, retention and defaults', () => {
    it('accepts a bare or quoted topics policy from users with the permission', async () => {
      await channel.make();
      await channel.updated('member', { topics_policy: '"disable_empty_topic"' });
      expect((await channel.read()).topics_policy).toBe('disable_empty_topic');
      await realm({ can_set_topics_policy_group: { new: await organisation.roleGroup('nobody') } });
      await channel.refuses('member', { topics_policy: 'allow_empty_topic' }, 'Insufficient permission');
      await channel.updated('member', { topics_policy: 'inherit' });
      await channel.updated('administrator', { topics_policy: 'allow_empty_topic' });
      await realm({ can_set_topics_policy_group: { new: await organisation.roleGroup('members') } });
      expect((await channel.update('member', { topics_policy: 'none' })).body.code).toBe('BAD_REQUEST');
    });

    it('allows empty_topic_only if no message is in a named topic', async () => {
      await channel.make();
      await channel.updated('member', { topics_policy: 'empty_topic_only' });
      await realm({ send_channel_events_messages: true });
      await channel.updated('member', { topics_policy: 'inherit' });
      await realm({ send_channel_events_messages: false });
      const { body } = await channel.update('member', { topics_policy: 'empty_topic_only' });
      expect(body).toMatchObject({ code: 'BAD_REQUEST', empty_topic_display_name: 'general chat' });
    });

    it.each([
      [30, 30],
      ['unlimited', -1],
      ['"forever"', -1],
      ['realm_default', null],
      ['"realm_default"', null],
    ])('accepts retention days %j from owners only', async (days, stored) => {
      await channel.make();
      await channel.updated('owner', { message_retention_days: days });
      expect((await channel.read()).message_retention_days).toBe(stored);
      await channel.refuses(
        'administrator',
        { message_retention_days: days },
        'Must be an organization owner',
        'UNAUTHORIZED_PRINCIPAL',
      );
    });

    it.each([0, -1, 'long', 1.5])('refuses retention days %j', async (days) => {
      await channel.make();
      const { status, body } = await channel.update('owner', { message_retention_days: days });
      expect([status, body]).toMatchObject([
        400,
        { code: 'REQUEST_VARIABLE_INVALID', var_name: 'message_retention_days', bad_value: days },
      ]);
    });

    it('lets only administrators choose default channels', async () => {
      await channel.make();
      await channel.refuses(
        'member',
        { is_default_stream: true },
        "You don't have permission to change default channels.",
      );
      const events = await organisation.watch('second', { event_types: '["default_streams"]' });
      await channel.updated('administrator', { is_default_stream: true });
      await channel.updated('administrator', { is_default_stream: true });
      await channel.updated('administrator', { is_default_stream: false });
      const [added, removed, ...more] = (await events()) as { default_streams: number[] }[];
      expect(added?.default_streams).toContain(channel.id);
      expect(removed?.default_streams).not.toContain(channel.id);
      expect(more).toEqual([]);
    });
  });

  describe('name, description and folder', () => {
    it('trims a new name, and accepts a name that differs only in letter case', async () => {
      await channel.make();
      await channel.updated('member', { new_name: ` ${channel.name.toUpperCase()} ` });
      expect((await channel.read()).name).toBe(channel.name.toUpperCase());
    });

    it('refuses the current name, invalid names and long names', async () => {
      await channel.make();
      await channel.refuses('member', { new_name: channel.name }, 'Channel already has that name.');
      await channel.refuses('member', { new_name: ' ' }, "Channel name can't be empty.");
      const tooLong = 'Channel name too long (limit: 60 characters).';
      await channel.refuses('member', { new_name: 'x'.repeat(61) }, tooLong);
      await channel.refuses(
        'member',
        { new_name: 'a\u0007b' },
        'Invalid character in channel name, at position 2.',
      );
    });

    it('refuses another channel’s name in any letter case, even if that channel is archived', async () => {
      await channel.make();
      const taken = channel.name;
      await organisation.do('member', 'DELETE', `streams/${channel.id}`);
      await channel.make();
      const { status, body } = await channel.update('member', { new_name: taken.toUpperCase() });
      expect([status, body]).toMatchObject([
        409,
        { code: 'CHANNEL_ALREADY_EXISTS', channel_name: taken.toUpperCase() },
      ]);
    });

    it('puts a description on one line, and refuses a long description', async () => {
      await channel.make();
      await channel.updated('member', { description: 'a\r\nb\nc' });
      expect(await channel.read()).toMatchObject({
        description: 'a b c',
        rendered_description: '<p>a b c</p>',
      });
      const { body } = await channel.update('member', { description: 'x'.repeat(1025) });
      expect([body.code, body.msg]).toEqual(['BAD_REQUEST', expect.stringContaining('1024')]);
    });

    it('refuses an unknown folder', async () => {
      await channel.make();
      await channel.refuses('member', { folder_id: 99 }, 'Invalid channel folder ID');
      await channel.updated('member', { folder_id: null });
    });
  });

  describe('permissions', () => {
    it('change only if the current value is the expected one', async () => {
      await channel.make();
      const [nobody, second] = [await organisation.roleGroup('nobody'), organisation.id('second')];
      const value = { direct_members: [second], direct_subgroups: [] };
      await channel.updated('member', { can_subscribe_group: { new: value, old: nobody } });
      expect((await channel.read()).can_subscribe_group).toEqual(value);
      const { body } = await channel.update('member', { can_subscribe_group: { new: nobody, old: nobody } });
      expect(body).toMatchObject({ code: 'EXPECTATION_MISMATCH', field_name: 'old' });
      await channel.refuses(
        'member',
        { can_subscribe_group: { new: await organisation.roleGroup('everyone') } },
        "'can_subscribe_group' setting cannot be set to 'role:everyone' group",
      );
    });

    it.each(['can_delete_any_message_group', 'can_delete_own_message_group'])(
      'can only be set by users with a separate right: %s',
      async (name) => {
        await channel.make();
        const value = { [name]: { new: await organisation.roleGroup('members') } };
        await channel.refuses('member', value, 'Insufficient permission');
        await channel.updated('administrator', value);
      },
    );
  });

  it('an update changes all fields or none', async () => {
    await channel.make();
    await channel.refuses(
      'member',
      { description: 'new', new_name: 'new', folder_id: 99 },
      'Invalid channel folder ID',
    );
  });
});
