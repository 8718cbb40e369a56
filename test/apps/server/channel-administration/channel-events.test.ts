import { beforeEach, describe, expect, it } from 'vitest';
import { eachBackend } from '../../../support/test-databases.js';
import { sharedOrganisation } from '../organisation-under-test.js';
import { ChannelUnderTest } from './channel-under-test.js';

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  let channel: ChannelUnderTest;
  beforeEach(() => {
    channel = new ChannelUnderTest(organisation);
  });

  const aboutChannels = { event_types: '["stream","subscription"]' };
  const watch = (who: Parameters<typeof organisation.watch>[0]) => organisation.watch(who, aboutChannels);
  const update = (property: string, value: unknown, fields: Record<string, unknown> = {}) => ({
    type: 'stream',
    op: 'update',
    stream_id: channel.id,
    name: channel.name,
    property,
    value,
    ...fields,
  });

  describe('clients that can see a channel', () => {
    it('get an event with the channel’s previous name for each changed property', async () => {
      await channel.make();
      const [second, guest] = [await watch('second'), await watch('guest')];
      const renamed = organisation.newName();
      await channel.updated('owner', {
        new_name: renamed,
        description: '*x*',
        message_retention_days: 'unlimited',
        topics_policy: 'allow_empty_topic',
        folder_id: null,
      });
      expect(await second()).toEqual([
        update('topics_policy', 'allow_empty_topic'),
        update('message_retention_days', -1),
        update('description', '*x*', { rendered_description: '<p><em>x</em></p>' }),
        update('name', renamed),
        update('folder_id', null),
      ]);
      expect(await guest()).toEqual([]);
    });

    it('get no event for a policy or permission that stays the same', async () => {
      await channel.make();
      const second = await watch('second');
      await channel.updated('member', {
        topics_policy: 'inherit',
        can_send_message_group: { new: await organisation.roleGroup('everyone') },
      });
      expect(await second()).toEqual([]);
    });

    it('also get legacy events when the posting policy changes', async () => {
      await channel.make();
      const second = await watch('second');
      const [admins, owners] = [
        await organisation.roleGroup('administrators'),
        await organisation.roleGroup('owners'),
      ];
      await channel.updated('member', { can_send_message_group: { new: admins } });
      await channel.updated('member', { can_send_message_group: { new: owners } });
      await channel.updated('member', {
        can_send_message_group: { new: await organisation.roleGroup('everyone') },
      });
      expect(await second()).toEqual([
        update('can_send_message_group', admins),
        update('stream_post_policy', 2),
        update('is_announcement_only', true),
        update('can_send_message_group', owners),
        update('stream_post_policy', 1),
        update('is_announcement_only', false),
        update('can_send_message_group', await organisation.roleGroup('everyone')),
      ]);
    });
  });

  describe('a channel that becomes public', () => {
    it('is published with its subscribers to members who could not see it before', async () => {
      await channel.make('member', { invite_only: true });
      const [second, own, guest] = [await watch('second'), await watch('member'), await watch('guest')];
      await channel.updated('member', { is_private: false });
      expect(await second()).toEqual([
        {
          type: 'stream',
          op: 'create',
          streams: [expect.objectContaining({ stream_id: channel.id, invite_only: false })],
        },
        {
          type: 'subscription',
          op: 'peer_add',
          stream_ids: [channel.id],
          user_ids: [organisation.id('member')],
        },
      ]);
      expect(await own()).toEqual([
        update('invite_only', false, { history_public_to_subscribers: true, is_web_public: false }),
      ]);
      expect(await guest()).toEqual([]);
    });
  });

  describe('a channel that becomes private', () => {
    it('is published to its subscribers and to administrators only', async () => {
      await channel.make();
      const [second, own] = [await watch('second'), await watch('member')];
      await channel.updated('member', { is_private: true });
      expect(await second()).toEqual([]);
      expect(await own()).toEqual([
        update('invite_only', true, { history_public_to_subscribers: false, is_web_public: false }),
      ]);
    });
  });

  describe.each(['can_subscribe_group', 'can_add_subscribers_group', 'can_administer_channel_group'])(
    'membership in %s of a private channel',
    (permission) => {
      it('makes the channel visible, and losing it hides the channel again', async () => {
        await channel.make('administrator', { invite_only: true });
        const [second, own] = [await watch('second'), await watch('administrator')];
        const value = { direct_members: [organisation.id('second')], direct_subgroups: [] };
        await channel.updated('administrator', { [permission]: { new: value } });
        const nobody = await organisation.roleGroup('nobody');
        await channel.updated('administrator', { [permission]: { new: nobody } });
        expect(await second()).toEqual([
          expect.objectContaining({ type: 'stream', op: 'create' }),
          expect.objectContaining({ type: 'subscription', op: 'peer_add' }),
          {
            type: 'stream',
            op: 'delete',
            stream_ids: [channel.id],
            streams: [{ stream_id: channel.id }],
          },
        ]);
        expect(await own()).toEqual([update(permission, value), update(permission, nobody)]);
      });
    },
  );

  it('archiving is an update for clients that support archived channels, and a deletion for other clients', async () => {
    await channel.make();
    const plain = await watch('second');
    const capable = await organisation.watch('second', {
      ...aboutChannels,
      client_capabilities: '{"notification_settings_null":false,"archived_channels":true}',
    });
    await organisation.do('member', 'DELETE', `streams/${channel.id}`);
    await channel.updated('member', { description: 'while archived' });
    await channel.updated('member', { is_archived: false });
    expect(await capable()).toEqual([
      update('is_archived', true),
      update('description', 'while archived', { rendered_description: '<p>while archived</p>' }),
      update('is_archived', false),
    ]);
    expect(await plain()).toEqual([
      { type: 'stream', op: 'delete', stream_ids: [channel.id], streams: [{ stream_id: channel.id }] },
      { type: 'stream', op: 'create', streams: [expect.objectContaining({ is_archived: false })] },
      expect.objectContaining({ type: 'subscription', op: 'peer_add' }),
    ]);
  });

  describe('notices', () => {
    it('are posted only if the organization enables them', async () => {
      await channel.make();
      await channel.updated('member', { description: 'x' });
      expect(await channel.messages()).toEqual([]);
    });

    it('describe each change in the channel itself', async () => {
      await organisation.do('owner', 'PATCH', 'realm', { send_channel_events_messages: true });
      await channel.make('owner');
      const { name } = channel;
      const renamed = organisation.newName();
      await channel.updated('owner', {
        is_private: true,
        new_name: renamed,
        description: 'about',
        message_retention_days: 2,
        topics_policy: 'disable_empty_topic',
        can_send_message_group: { new: await organisation.roleGroup('members') },
      });
      await channel.updated('owner', { is_private: true, message_retention_days: 2, description: 'about' });
      await organisation.do('owner', 'DELETE', `streams/${channel.id}`);
      await channel.updated('owner', { is_archived: false });
      await organisation.do('owner', 'PATCH', 'realm', { send_channel_events_messages: false });
      const messages = await channel.messages();
      expect(new Set(messages.map(({ topic }) => topic))).toEqual(new Set(['channel events']));
      const owner = `@_**|${organisation.id('owner')}**`;
      const privacy = '**Public** to **Private, protected history**';
      expect(messages.map(({ content }) => content)).toEqual([
        `${owner} created this channel: **Public**.\n\n* **Description**:\n\n\`\`\`\` quote\n*No description.*\n\`\`\`\``,
        `${owner} changed who can read this channel from ${privacy}.`,
        expect.stringContaining('from **Same as the organization** to **Only topics with a name**.'),
        expect.stringContaining('* **Old**: same as the organization\n* **New**: 2 days'),
        expect.stringContaining('*No description.*'),
        `${owner} renamed this channel from **${name}** to **${renamed}**.`,
        expect.stringContaining('* **Old**: @_*role:everyone*\n* **New**: @_*role:members*'),
        `The channel #**${renamed}** was unarchived.`,
      ]);
    });
  });
});
