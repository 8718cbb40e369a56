import { beforeEach, expect, it } from 'vitest';
import { eachBackend } from '../../../support/test-databases.js';
import { ChannelUnderTest } from '../channel-administration/channel-under-test.js';
import { post } from '../messages/edit/moves-under-test.js';
import { sharedOrganisation } from '../organisation-under-test.js';

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  const subscriptions = 'users/me/subscriptions';
  let channel: ChannelUnderTest;
  beforeEach(async () => {
    channel = new ChannelUnderTest(organisation);
    await channel.make('member', { invite_only: true });
  });
  const strangers = ['second', 'moderator', 'guest', 'bot'] as const;

  it('users who cannot see a private channel find it in no list and get no events about it', async () => {
    await channel.add('second');
    await organisation.do('second', 'DELETE', subscriptions, { subscriptions: [channel.name] });
    const events = await Promise.all(strangers.map((who) => organisation.watch(who)));
    const renamed = `renamed ${channel.name}`;
    await channel.updated('member', {
      new_name: renamed,
      description: 'pelican',
      topics_policy: 'allow_empty_topic',
      history_public_to_subscribers: true,
      is_private: true,
      can_send_message_group: { new: await organisation.roleGroup('members') },
    });
    await channel.add('owner');
    const [id = 0] = await post(organisation, { channelId: channel.id, content: 'pelican' });
    await organisation.do('member', 'PATCH', `messages/${id}`, { topic: 'pelican' });
    await organisation.do('member', 'DELETE', `streams/${channel.id}`);
    await channel.updated('member', { is_archived: false });
    for (const [index, who] of strangers.entries()) {
      expect([who, await events[index]?.()]).toEqual([who, []]);
      const state = await organisation.do(who, 'POST', 'register', { include_subscribers: true });
      const lists = [state.streams, state.subscriptions, state.unsubscribed, state.never_subscribed];
      expect(JSON.stringify(lists)).not.toContain(channel.name);
      expect(JSON.stringify(lists)).not.toContain('pelican');
      for (const fields of [
        {},
        { exclude_archived: false },
        { include_all: true },
        { include_can_access_content: true },
      ]) {
        const { body } = await organisation.ask(who, 'GET', 'streams', fields);
        expect(JSON.stringify(body)).not.toContain(channel.name);
      }
    }
  });

  it('a link to a private channel or its topic renders like a link to a missing channel for other users', async () => {
    await post(organisation, { channelId: channel.id, topic: 'lunch' });
    const [id = 0] = await post(organisation, { channelId: channel.id, topic: 'lunch' });
    const none = 'zzzz';
    const render = async (who: (typeof strangers)[number], content: string) =>
      String((await organisation.do(who, 'POST', 'messages/render', { content })).rendered);
    for (const who of strangers) {
      for (const text of ['#**NAME**', '#**NAME>lunch**', `#**NAME>lunch@${id}**`]) {
        const hidden = await render(who, text.replace('NAME', channel.name));
        const unknown = await render(who, text.replace('NAME', none));
        expect([who, hidden]).toEqual([who, unknown.replace(none, channel.name)]);
      }
    }
  });

  it('a request that names a private channel gets the same response as for a missing channel', async () => {
    const to = { type: 'channel', topic: 'a', content: 'a' };
    const asks = (id: number, name: string) =>
      [
        ['POST', 'messages', { ...to, to: id }],
        ['POST', 'messages', { ...to, to: name }],
        ['GET', 'get_stream_id', { stream: name }],
        ['DELETE', subscriptions, { subscriptions: [name] }],
        ['GET', `streams/${id}`, {}],
        ['PATCH', `streams/${id}`, { description: 'x' }],
        ['DELETE', `streams/${id}`, {}],
        ['GET', `users/${organisation.id('member')}/subscriptions/${id}`, {}],
        [
          'POST',
          `${subscriptions}/properties`,
          { subscription_data: [{ stream_id: id, property: 'is_muted', value: true }] },
        ],
        ['POST', 'invites/multiuse', { stream_ids: [id] }],
        ['POST', 'default_streams', { stream_id: id }],
      ] as const;
    for (const who of strangers) {
      const hidden = asks(channel.id, channel.name);
      const unknown = asks(999_999, 'zzzz');
      for (const [index, [method, path, fields]] of hidden.entries()) {
        const [, otherPath, otherFields] = unknown[index] as (typeof unknown)[number];
        const one = await organisation.ask(who, method, path, fields);
        const other = await organisation.ask(who, method, otherPath, otherFields);
        const text = JSON.stringify(one.body)
          .replaceAll(channel.name, 'zzzz')
          .replaceAll(new RegExp(`\\b${channel.id}\\b`, 'g'), '999999');
        expect([who, path, one.status, text]).toEqual([who, path, other.status, JSON.stringify(other.body)]);
        expect(one.status).not.toBe(200);
      }
    }
  });
});
