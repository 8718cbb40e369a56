import { describe, expect, it } from 'vitest';
import { messageFlags } from '#server/conversations/messages/message-flags.js';
import { isNotified, type PushSettings } from '#server/conversations/messages/push/select-notified-users.js';
import { eachBackend } from '../../../../support/test-databases.js';
import { sharedPush } from './push-under-test.js';

const pushDefaults: PushSettings = {
  enable_offline_push_notifications: true,
  enable_stream_push_notifications: false,
  enable_followed_topic_push_notifications: true,
  enable_followed_topic_wildcard_mentions_notify: true,
  wildcard_mentions_notify: true,
};
const nothing = {
  flags: 0,
  isDirect: false,
  isChannelMuted: false,
  topicPolicy: 0,
  pushesChannel: undefined,
  wildcardsNotify: undefined,
  settings: pushDefaults,
};
const noWildcards = { wildcard_mentions_notify: false };
const noFollowed = { enable_followed_topic_push_notifications: false };
const followedWildcards = {
  ...noFollowed,
  enable_followed_topic_wildcard_mentions_notify: false,
  wildcard_mentions_notify: false,
};
const { mentioned, read, stream_wildcard_mentioned: wildcard } = messageFlags;

describe('a user’s phones', () => {
  it.each([
    ['a message of a channel', {}, false],
    ['a direct message', { isDirect: true }, true],
    ['a direct message that is read', { isDirect: true, flags: read }, false],
    ['a mention in a muted topic', { flags: mentioned, topicPolicy: 1 }, true],
    ['a mention of all', { flags: wildcard }, true],
    ['a mention of all that the user turned off', { flags: wildcard, wildcardsNotify: false }, false],
    ['a mention of all in a muted channel', { flags: wildcard, isChannelMuted: true }, false],
    ['a followed topic of a muted channel', { topicPolicy: 3, isChannelMuted: true }, true],
    ['a channel with notifications on', { pushesChannel: true }, true],
    ['a muted topic of a channel with notifications on', { pushesChannel: true, topicPolicy: 1 }, false],
    [
      'an unmuted topic of a muted channel with notifications on',
      { pushesChannel: true, isChannelMuted: true, topicPolicy: 2 },
      true,
    ],
  ])('are notified of %s: %o, %s', (_, standing, expected) => {
    expect(isNotified({ ...nothing, ...standing })).toBe(expected);
  });

  it.each<[string, Partial<PushSettings>, object, boolean]>([
    ['direct messages', { enable_offline_push_notifications: false }, { isDirect: true }, false],
    ['mentions', { enable_offline_push_notifications: false }, { flags: mentioned }, false],
    ['mentions of all', { enable_offline_push_notifications: false }, { flags: wildcard }, false],
    ['mentions of all', noWildcards, { flags: wildcard }, false],
    [
      'mentions of all in a channel with its own setting',
      noWildcards,
      { flags: wildcard, wildcardsNotify: true },
      true,
    ],
    ['mentions of all in a followed topic', followedWildcards, { flags: wildcard, topicPolicy: 3 }, false],
    ['mentions of all in followed topics', noWildcards, { flags: wildcard, topicPolicy: 3 }, true],
    ['followed topics', noFollowed, { topicPolicy: 3 }, false],
    ['channels', { enable_stream_push_notifications: true }, {}, true],
    ['channels but this', { enable_stream_push_notifications: true }, { pushesChannel: false }, false],
  ])('are notified of %s with the settings %o: %o, %s', (_, settings, standing, expected) => {
    const all = { ...pushDefaults, ...settings };
    expect(isNotified({ ...nothing, ...standing, settings: all })).toBe(expected);
  });
});

eachBackend((backend) => {
  const push = sharedPush(backend);
  const read = (ids: readonly number[]) =>
    push.do(push.ada, 'POST', 'messages/flags', { messages: JSON.stringify(ids), op: 'add', flag: 'read' });

  describe('a direct message', () => {
    it('is pushed encrypted to the recipient’s phone, and retracted when it is read', async () => {
      const ids: number[] = [];
      const told = await push.arriving(async () => {
        ids.push(await push.send(push.bob, { ...push.toAda, content: 'hello **you** :+1: $$x^2$$' }));
        ids.push(await push.send(push.bob, { ...push.toAda, content: 'more' }));
      });
      expect(told).toHaveLength(2);
      expect(told.find(({ message_id }) => message_id === ids[0])).toMatchObject({
        type: 'message',
        content: 'hello you 👍 x^2',
        sender_id: push.bob.userId,
        sender_full_name: 'Somebody',
        recipient_type: 'direct',
        recipient_user_ids: [push.ada.userId, push.bob.userId],
        user_id: push.ada.userId,
      });
      expect(await push.arriving(() => read(ids))).toMatchObject([{ type: 'remove', message_ids: ids }]);
      expect(await push.arriving(() => read(ids))).toEqual([]);
    });

    it('is not pushed to the sender’s phone', async () => {
      const { ada, bob } = push;
      const toBob = { type: 'direct', to: `[${bob.userId}]`, content: 'a' };
      expect(await push.arriving(() => push.send(ada, toBob))).toEqual([]);
      expect(await push.arriving(() => push.send(ada, { ...push.toAda, content: 'a note' }))).toEqual([]);
    });

    it('is not pushed to users who turned notifications off', async () => {
      const want = (value: boolean) =>
        push.do(push.ada, 'PATCH', 'settings', { enable_offline_push_notifications: String(value) });
      await want(false);
      const told = await push.arriving(() => push.send(push.bob, { ...push.toAda, content: 'hello' }));
      await want(true);
      expect(told).toEqual([]);
    });
  });

  describe('a message to a channel', () => {
    it('is pushed to mentioned subscribers', async () => {
      const inside = await push.channel([push.ada, push.bob]);
      const outside = await push.channel([push.bob]);
      expect(await push.arriving(() => push.sendToChannel(inside, 'nobody in particular'))).toEqual([]);
      expect(await push.arriving(() => push.sendToChannel(inside, push.mention))).toMatchObject([
        { type: 'message', recipient_type: 'channel', channel_id: inside, topic: 't', content: '@Somebody' },
      ]);
      expect(await push.arriving(() => push.sendToChannel(outside, push.mention))).toEqual([]);
      // A mentioned user follows the topic from then on.
      expect(await push.arriving(() => push.sendToChannel(inside, 'again'))).toHaveLength(1);
    });

    it('is pushed to users who follow the topic, unless they turned these notifications off', async () => {
      const id = await push.channel([push.ada, push.bob]);
      const follow = { stream_id: String(id), topic: 'T', visibility_policy: '3' };
      await push.do(push.ada, 'POST', 'user_topics', follow);
      expect(await push.arriving(() => push.sendToChannel(id, 'a'))).toHaveLength(1);
      const want = (value: boolean) =>
        push.do(push.ada, 'PATCH', 'settings', { enable_followed_topic_push_notifications: String(value) });
      await want(false);
      const told = await push.arriving(() => push.sendToChannel(id, 'b'));
      await want(true);
      expect(told).toEqual([]);
    });

    it('is pushed to users who turned on notifications for this channel, but not if they excluded the channel', async () => {
      const [one, other] = [await push.channel([push.ada, push.bob]), await push.channel([push.ada])];
      const want = (stream_id: number, value: boolean) =>
        push.do(push.ada, 'POST', 'users/me/subscriptions/properties', {
          subscription_data: JSON.stringify([{ stream_id, property: 'push_notifications', value }]),
        });
      await want(one, true);
      expect(await push.arriving(() => push.sendToChannel(one, 'a'))).toHaveLength(1);
      await push.do(push.ada, 'PATCH', 'settings', { enable_stream_push_notifications: 'true' });
      await want(one, false);
      const told = await push.arriving(async () => {
        await push.sendToChannel(one, 'b');
        await push.sendToChannel(other, 'c');
      });
      await push.do(push.ada, 'PATCH', 'settings', { enable_stream_push_notifications: 'false' });
      expect(told).toMatchObject([{ content: 'c' }]);
    });

    it('makes users follow its topic only if their settings allow it', async () => {
      const id = await push.channel([push.ada, push.bob]);
      await push.do(push.ada, 'PATCH', 'settings', {
        automatically_follow_topics_where_mentioned: 'false',
        automatically_follow_topics_policy: '4',
      });
      expect(await push.arriving(() => push.sendToChannel(id, push.mention))).toHaveLength(1);
      expect(await push.arriving(() => push.sendToChannel(id, 'again'))).toEqual([]);
      const sent = { type: 'channel', to: String(id), content: 'a', topic: 'new' };
      const begun = await push.do(push.ada, 'POST', 'messages', sent);
      expect(begun).not.toHaveProperty('automatic_new_visibility_policy');
      await push.do(push.ada, 'PATCH', 'settings', { automatically_follow_topics_policy: '2' });
      const followed = await push.do(push.ada, 'POST', 'messages', sent);
      expect(followed.automatic_new_visibility_policy).toBe(3);
      await push.do(push.ada, 'PATCH', 'settings', {
        automatically_follow_topics_where_mentioned: 'true',
        automatically_follow_topics_policy: '3',
      });
    });

    it('is not pushed to a user who left the channel before the job ran', async () => {
      const id = await push.channel([push.ada, push.bob]);
      await push.server.settle();
      const told = await push.arriving(async () => {
        await push.server.server.database.jobs.stop(1000);
        await push.sendToChannel(id, push.mention);
        await push.leave(id, push.ada);
        await push.server.stop();
        await push.server.boot();
      });
      expect(told).toEqual([]);
    });

    it('hides the sender’s name from a guest who cannot see that user', async () => {
      const { server, ada, bob } = push;
      const owner = await server.addAccount('owner@example.com', { role: 100 });
      const eve = await server.addAccount('eve@example.com');
      const { body } = await server.ask(owner, 'GET', 'user_groups');
      const groups = body.user_groups as { id: number; name: string }[];
      const members = groups.find(({ name }) => name === 'role:members')?.id;
      const access = JSON.stringify({ new: members });
      await push.do(owner, 'PATCH', 'realm', { can_access_all_users_group: access });
      await push.do(owner, 'PATCH', `users/${ada.userId}`, { role: '600' });
      const to = String(await push.channel([ada, bob]));
      const sent = { type: 'channel', to, topic: 't', content: push.mention };
      const [unknown] = await push.arriving(() => push.send(eve, sent));
      expect(unknown).toMatchObject({ sender_id: eve.userId, sender_full_name: 'Unknown user' });
      const [known] = await push.arriving(() => push.send(bob, sent));
      expect(known).toMatchObject({ sender_id: bob.userId, sender_full_name: 'Somebody' });
    });
  });
});
