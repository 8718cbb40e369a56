import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eachBackend } from '../../../support/test-databases.js';
import { post } from '../messages/edit/moves-under-test.js';
import { sharedOrganisation } from '../organisation-under-test.js';
import { ChannelUnderTest } from './channel-under-test.js';

const permissions = [
  'can_add_subscribers_group',
  'can_remove_subscribers_group',
  'can_administer_channel_group',
  'can_delete_any_message_group',
  'can_delete_own_message_group',
  'can_move_messages_out_of_channel_group',
  'can_move_messages_within_channel_group',
  'can_send_message_group',
  'can_subscribe_group',
  'can_resolve_topics_group',
];
const mayNotAdminister = 'You do not have permission to administer this channel.';
const subscriptions = 'users/me/subscriptions';

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  type Who = Parameters<typeof organisation.ask>[0];
  let channel: ChannelUnderTest;
  beforeEach(() => {
    channel = new ChannelUnderTest(organisation);
  });

  const just = (...whom: Who[]) => ({
    new: { direct_members: whom.map((who) => organisation.id(who)), direct_subgroups: [] },
  });
  const realmGroup = async (name: string, group: string) =>
    organisation.do('owner', 'PATCH', 'realm', { [name]: { new: await organisation.roleGroup(group) } });
  const said = async (who: Who, fields: Record<string, unknown>) => {
    const { body } = await channel.update(who, fields);
    return body.result === 'success' ? 'done' : body.msg;
  };
  const add = async (who: Who, ...whom: Who[]) =>
    (
      await organisation.ask(who, 'POST', subscriptions, {
        subscriptions: [{ name: channel.name }],
        principals: whom.map((each) => organisation.id(each)),
      })
    ).status;
  const join = async (who: Who) =>
    (await organisation.ask(who, 'POST', subscriptions, { subscriptions: [{ name: channel.name }] })).status;
  const takeOut = async (who: Who, whom: Who) =>
    (
      await organisation.ask(who, 'DELETE', subscriptions, {
        subscriptions: [channel.name],
        principals: [organisation.id(whom)],
      })
    ).status;
  const send = async (who: Who) =>
    (
      await organisation.ask(who, 'POST', 'messages', {
        type: 'channel',
        to: channel.id,
        topic: 'lunch',
        content: 'hello',
      })
    ).status;
  const remove = async (who: Who, id: number) =>
    (await organisation.ask(who, 'DELETE', `messages/${id}`)).status;

  describe.each(permissions)('%s', (name) => {
    it('is set only by administrators and channel administrators', async () => {
      await channel.make('member');
      await channel.updated('owner', { can_administer_channel_group: just('member', 'guest', 'second') });
      await channel.updated('owner', { can_administer_channel_group: just('member', 'guest') });
      if (name.startsWith('can_delete')) await realmGroup('can_set_delete_message_policy_group', 'members');
      const { [name]: old } = await channel.read();
      const wish = { [name]: just('member', 'moderator') };
      expect(await said('second', wish)).toBe(mayNotAdminister);
      expect(await said('moderator', wish)).toBe(mayNotAdminister);
      expect(await said('guest', wish)).toBe('Invalid channel ID');
      expect((await channel.read())[name]).toEqual(old);
      expect(await said('member', { [name]: { ...just('member', 'moderator'), old } })).toBe('done');
      const value = {
        direct_members: [organisation.id('moderator'), organisation.id('member')].sort((a, b) => a - b),
        direct_subgroups: [],
      };
      expect((await channel.read())[name]).toEqual(value);
      expect(
        await said('administrator', { [name]: { new: await organisation.roleGroup('moderators') } }),
      ).toBe('done');
      await realmGroup('can_set_delete_message_policy_group', 'moderators');
    });

    it('is hidden, like the channel, from users who cannot see the channel', async () => {
      await channel.make('member', { invite_only: true });
      const wish = { [name]: just('second') };
      for (const who of ['second', 'moderator', 'guest', 'bot'] as const) {
        expect(await said(who, wish)).toBe('Invalid channel ID');
        expect((await organisation.ask(who, 'PATCH', 'streams/999999', wish)).body.msg).toBe(
          'Invalid channel ID',
        );
      }
    });
  });

  describe('subscribing other users to a channel', () => {
    afterEach(() => realmGroup('can_add_subscribers_group', 'members'));

    it('is allowed for can_add_subscribers_group, even in a private channel that the user is not subscribed to', async () => {
      await channel.make('member', { invite_only: true });
      await channel.updated('member', { can_add_subscribers_group: just('moderator') });
      expect(await add('second', 'guest')).toBe(400);
      expect(await add('owner', 'guest')).toBe(400);
      await realmGroup('can_add_subscribers_group', 'nobody');
      expect(await add('moderator', 'second')).toBe(200);
      expect(await add('second', 'guest')).toBe(400);
    });

    it('is allowed for channel administrators and the organization’s group if the channel is public', async () => {
      await channel.make('member');
      await realmGroup('can_add_subscribers_group', 'nobody');
      expect(await add('second', 'guest')).toBe(400);
      expect(await add('member', 'guest')).toBe(200);
      expect(await add('administrator', 'second')).toBe(200);
      await realmGroup('can_add_subscribers_group', 'members');
      expect(await add('second', 'bot')).toBe(200);
    });
  });

  it('unsubscribing others is allowed for can_remove_subscribers_group, and always for administrators', async () => {
    await channel.make('member');
    await channel.add('second', 'guest', 'moderator', 'bot');
    await channel.updated('member', { can_administer_channel_group: just('owner') });
    await channel.updated('owner', { can_remove_subscribers_group: just('second') });
    expect(await takeOut('moderator', 'guest')).toBe(400);
    expect(await takeOut('member', 'guest')).toBe(400);
    expect(await takeOut('second', 'guest')).toBe(200);
    await channel.updated('owner', {
      can_remove_subscribers_group: { new: await organisation.roleGroup('nobody') },
    });
    expect(await takeOut('second', 'bot')).toBe(400);
    expect(await takeOut('administrator', 'bot')).toBe(200);
  });

  it('administering is allowed for can_administer_channel_group except guests, and always for administrators', async () => {
    await channel.make('member');
    await channel.add('guest');
    await channel.updated('member', { can_administer_channel_group: just('second', 'guest') });
    expect(await said('member', { description: 'x' })).toBe(mayNotAdminister);
    expect(await said('guest', { description: 'x' })).toBe(mayNotAdminister);
    for (const who of ['second', 'administrator', 'owner'] as const)
      expect(await said(who, { description: who })).toBe('done');
  });

  it('posting requires can_send_message_group, even for administrators', async () => {
    await channel.make('member');
    await channel.add('second', 'owner', 'guest');
    for (const who of ['member', 'second', 'owner', 'guest'] as const) expect(await send(who)).toBe(200);
    await channel.updated('member', { can_send_message_group: just('second') });
    expect(await Promise.all((['member', 'owner', 'guest', 'second'] as const).map(send))).toEqual([
      ...[400, 400, 400, 200],
    ]);
  });

  it('joining is allowed for all except guests in public channels, and for can_subscribe_group in private channels', async () => {
    await channel.make('member');
    const nobody = { new: await organisation.roleGroup('nobody') };
    await channel.updated('member', { can_subscribe_group: nobody });
    expect([await join('second'), await join('guest')]).toEqual([200, 400]);
    await channel.make('member', { invite_only: true });
    await channel.updated('member', { can_subscribe_group: just('second', 'guest') });
    expect([await join('moderator'), await join('owner'), await join('guest')]).toEqual([400, 400, 400]);
    expect(await join('second')).toBe(200);
  });

  describe('deleting messages', () => {
    const groups = {
      can_delete_own_message_group: 'everyone',
      can_delete_any_message_group: 'administrators',
    };
    afterEach(async () => {
      for (const [name, group] of Object.entries(groups)) await realmGroup(name, group);
    });

    it('of other users is allowed for can_delete_any_message_group of the channel or the organization', async () => {
      await channel.make('owner');
      await channel.add('member', 'second');
      const channelId = channel.id;
      const [one = 0, two = 0, three = 0] = await post(
        ...([organisation, { channelId }, { channelId }, { channelId }] as const),
      );
      expect(await remove('second', one)).toBe(400);
      await channel.updated('owner', { can_delete_any_message_group: just('second') });
      expect(await remove('second', one)).toBe(200);
      expect(await remove('moderator', two)).toBe(400);
      expect(await remove('administrator', two)).toBe(200);
      await realmGroup('can_delete_any_message_group', 'moderators');
      expect(await remove('moderator', three)).toBe(200);
    });

    it('of one’s own is allowed for can_delete_own_message_group of the channel or the organization', async () => {
      await channel.make('owner');
      await channel.add('member', 'second');
      const channelId = channel.id;
      const [one = 0, two = 0, three = 0] = await post(
        ...([organisation, { channelId }, { channelId }, { channelId }] as const),
      );
      const [seconds = 0] = await post(organisation, { channelId, by: 'second' });
      await realmGroup('can_delete_own_message_group', 'nobody');
      expect(await remove('member', one)).toBe(400);
      await channel.updated('owner', { can_delete_own_message_group: just('member') });
      expect([await remove('member', one), await remove('second', seconds)]).toEqual([200, 400]);
      await channel.updated('owner', {
        can_delete_own_message_group: { new: await organisation.roleGroup('nobody') },
        can_delete_any_message_group: just('second'),
      });
      expect([await remove('second', seconds), await remove('member', two)]).toEqual([200, 400]);
      await realmGroup('can_delete_own_message_group', 'everyone');
      expect([await remove('member', two), await remove('second', three)]).toEqual([200, 200]);
    });

    it('requires read access to the messages', async () => {
      await channel.make('member', { invite_only: true });
      const [id = 0] = await post(organisation, { channelId: channel.id });
      await channel.updated('owner', {
        can_delete_any_message_group: just('second'),
        can_delete_own_message_group: just('second'),
      });
      await realmGroup('can_delete_any_message_group', 'members');
      for (const who of ['second', 'owner'] as const) {
        const { body } = await organisation.ask(who, 'DELETE', `messages/${id}`);
        expect([body.code, body.msg]).toEqual(['BAD_REQUEST', 'Invalid message(s)']);
      }
    });
  });
});
