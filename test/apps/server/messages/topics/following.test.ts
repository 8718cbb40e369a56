import type { ChannelId } from '@waxwing/protocol';
import { beforeEach, describe, expect, it } from 'vitest';
import { eachBackend } from '../../../../support/test-databases.js';
import { sharedOrganisation } from '../../organisation-under-test.js';
import { addChannel } from '../chat-under-test.js';
import { post, stored } from '../edit/moves-under-test.js';

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  let channel: { id: ChannelId; name: string };
  beforeEach(async () => {
    channel = await addChannel(organisation, { members: ['member', 'second'] });
  });
  const set = (settings: Record<string, unknown>, who: 'member' | 'second' = 'member') =>
    organisation.do(who, 'PATCH', 'settings', settings);
  const mute = () =>
    organisation.do('member', 'POST', 'users/me/subscriptions/properties', {
      subscription_data: [{ stream_id: channel.id, property: 'is_muted', value: true }],
    });
  const send = async (topic: string, who: 'member' | 'second' = 'member', content = 'a') => {
    const wish = { type: 'channel', to: channel.id, topic, content };
    return organisation.do(who, 'POST', 'messages', wish);
  };
  const policies = async (who: 'member' | 'second' = 'member') => {
    const state = await organisation.do(who, 'POST', 'register', { event_types: ['user_topic'] });
    const topics = state.user_topics as {
      stream_id: number;
      topic_name: string;
      visibility_policy: number;
    }[];
    return topics
      .filter(({ stream_id }) => stream_id === channel.id)
      .map(({ topic_name, visibility_policy }) => [topic_name, visibility_policy]);
  };

  describe('a topic in which a user posts', () => {
    it.each([
      [1, 4, ['begun', 'others'], 3],
      [2, 4, ['begun', 'others'], 3],
      [3, 4, ['begun'], 3],
      [4, 1, ['begun', 'others'], 2],
      [4, 2, ['begun', 'others'], 2],
      [4, 3, ['begun'], 2],
      [4, 4, [], 0],
    ])(
      'is followed with the setting %i, or unmuted in a muted channel with the setting %i',
      async (follow, unmute, topics, policy) => {
        await set({
          automatically_follow_topics_policy: follow,
          automatically_unmute_topics_in_muted_streams_policy: unmute,
        });
        await mute();
        await send('others', 'second');
        const answers = [await send('begun'), await send('others')];
        expect((await policies()).sort()).toEqual(topics.map((topic) => [topic, policy]));
        const told = answers.map(({ automatic_new_visibility_policy: now }) => now);
        const expected = ['begun', 'others'].map((topic) => (topics.includes(topic) ? policy : undefined));
        expect(told).toEqual(expected);
      },
    );

    it('is not followed by mentioned users who turned this setting off', async () => {
      await set({ automatically_follow_topics_where_mentioned: false }, 'second');
      await send('lunch', 'member', `@**|${organisation.id('second')}**`);
      expect(await policies('second')).toEqual([]);
      await set({ automatically_follow_topics_where_mentioned: true }, 'second');
      await send('lunch', 'member', `@**|${organisation.id('second')}**`);
      expect(await policies('second')).toEqual([['lunch', 3]]);
    });
  });

  describe('a topic that starts with a moved message', () => {
    const move = async (propagate_mode: string, topic = 'dinner') => {
      const [, id = 0] = await post(
        organisation,
        ...[0, 1, 2].map(() => ({ channelId: channel.id, topic: 'lunch' })),
      );
      const wish = { topic, propagate_mode, send_notification_to_new_thread: false };
      await organisation.do('owner', 'PATCH', `messages/${id}`, wish);
    };

    it('is followed by the message’s sender if the sender’s settings say so', async () => {
      await set({ automatically_follow_topics_policy: 3 });
      await move('change_later');
      expect(await policies()).toEqual([['dinner', 3]]);
      await set({
        automatically_follow_topics_policy: 4,
        automatically_unmute_topics_in_muted_streams_policy: 3,
      });
      await mute();
      await move('change_one', 'supper');
      expect(await policies()).toContainEqual(['supper', 2]);
    });

    it('is not followed if the topic existed before, or the whole topic moves', async () => {
      await set({ automatically_follow_topics_policy: 3 });
      await post(organisation, { by: 'second', channelId: channel.id, topic: 'dinner' });
      await move('change_one');
      await move('change_all', 'supper');
      expect(await policies()).toEqual([]);
    });
  });

  it('a notice about a resolved topic is marked as read by the user’s setting, or if the user does not follow the topic', async () => {
    const [id = 0] = await post(organisation, { channelId: channel.id, topic: 'lunch' });
    const noticeFlags = async (policy: number, visibility_policy: number) => {
      await set({ resolved_topic_notice_auto_read_policy: policy }, 'second');
      // Skips the minute in which reopening the topic would delete the last notice.
      organisation.server.now += 120_000;
      const topic = (await stored(organisation, id))?.topic ?? '';
      const wanted = { stream_id: channel.id, topic, visibility_policy };
      await organisation.do('second', 'POST', 'user_topics', wanted);
      const resolved = topic.startsWith('✔ ') ? 'lunch' : '✔ lunch';
      const wish = { topic: resolved, propagate_mode: 'change_all' };
      await organisation.do('owner', 'PATCH', `messages/${id}`, wish);
      const narrow = [['channel', channel.id]];
      const read = { anchor: 'newest', num_before: 1, num_after: 0, narrow };
      const { messages } = await organisation.do('second', 'GET', 'messages', read);
      return (messages as { flags: string[] }[])[0]?.flags;
    };
    expect(await noticeFlags(1, 3)).toEqual(['read']);
    expect(await noticeFlags(2, 3)).toEqual([]);
    expect(await noticeFlags(2, 0)).toEqual(['read']);
    expect(await noticeFlags(3, 0)).toEqual([]);
    expect(await noticeFlags(3, 3)).toEqual([]);
  });
});
