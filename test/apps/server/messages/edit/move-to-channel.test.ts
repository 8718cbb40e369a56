import { afterEach, describe, expect, it } from 'vitest';
import { messageProblems } from '../../../../support/check-messages.js';
import { messageId } from '../../../../support/ids.js';
import { eachBackend } from '../../../../support/test-databases.js';
import { sharedOrganisation } from '../../organisation-under-test.js';
import { addChannel, subscribe } from '../chat-under-test.js';
import { post, stored, textsIn } from './moves-under-test.js';

const capable = {
  client_capabilities:
    '{"notification_settings_null":true,"bulk_message_deletion":true,"empty_topic_name":true}',
};

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  const db = () => organisation.server.server.database.db;
  afterEach(async () => {
    expect(await messageProblems(db())).toEqual([]);
  });

  type Who = Parameters<typeof organisation.watch>[0];
  const watch = async (who: Who) => {
    const read = await organisation.watch(who, capable);
    return async () => (await read()) as Record<string, unknown>[];
  };
  const move = (who: Who, id: number, fields: Record<string, unknown>) =>
    organisation.do(who ?? 'member', 'PATCH', `messages/${id}`, {
      send_notification_to_new_thread: false,
      ...fields,
    });
  const copiesOf = async (id: number) => {
    const rows = await db()
      .selectFrom('user_messages')
      .selectAll()
      .where('message_id', '=', messageId(id))
      .orderBy('user_id')
      .execute();
    return rows.map(({ user_id }) => user_id);
  };
  const reads = async (who: NonNullable<Who>, id: number) =>
    (await organisation.ask(who, 'GET', `messages/${id}/history`)).status === 200;

  describe('messages that move to another channel', () => {
    it('are in an event with the old channel and topic and the new channel', async () => {
      const from = await addChannel(organisation, { members: ['member', 'second'] });
      const to = await addChannel(organisation, { members: ['member', 'second'] });
      const [id = 0] = await post(organisation, { channelId: from.id });
      const events = await watch('second');
      await move('member', id, { stream_id: to.id });
      expect(await events()).toEqual([
        {
          type: 'update_message',
          user_id: organisation.id('member'),
          edit_timestamp: Math.floor(organisation.server.now / 1000),
          message_id: id,
          message_ids: [id],
          flags: [],
          rendering_only: false,
          stream_id: from.id,
          stream_name: from.name,
          new_stream_id: to.id,
          orig_subject: 'lunch',
          propagate_mode: 'change_one',
        },
      ]);
      expect(await stored(organisation, id)).toMatchObject({
        channel_id: to.id,
        topic: 'lunch',
        last_moved_at: organisation.server.now,
      });
    });

    it('are deleted for users who cannot see the new channel, without revealing that channel', async () => {
      const from = await addChannel(organisation, { members: ['member', 'second', 'guest'] });
      const to = await addChannel(organisation, { isPrivate: true, members: ['member'] });
      const ids = await post(organisation, { channelId: from.id }, { channelId: from.id });
      const [second, guest, owner] = [await watch('second'), await watch('guest'), await watch('owner')];
      await move('member', ids[0] as number, { stream_id: to.id, propagate_mode: 'change_all' });
      const gone = {
        type: 'delete_message',
        message_ids: ids,
        message_type: 'stream',
        stream_id: from.id,
        topic: 'lunch',
      };
      expect([await second(), await guest(), await owner()]).toEqual([[gone], [gone], []]);
      expect(await copiesOf(ids[0] as number)).toEqual([organisation.id('member')]);
      expect(await reads('second', ids[0] as number)).toBe(false);
    });

    it('are deleted for guests outside the new public channel, one by one for older clients', async () => {
      const from = await addChannel(organisation, { members: ['member', 'second', 'guest'] });
      const to = await addChannel(organisation, { members: ['member'] });
      const [id = 0] = await post(organisation, { channelId: from.id });
      const guest = await organisation.watch('guest');
      const second = await watch('second');
      await move('member', id, { stream_id: to.id });
      expect(await guest()).toEqual([
        {
          type: 'delete_message',
          message_id: id,
          message_type: 'stream',
          stream_id: from.id,
          topic: 'lunch',
        },
      ]);
      expect(await second()).toMatchObject([{ type: 'update_message', flags: ['read'] }]);
      expect(await reads('second', id)).toBe(true);
    });

    it('can be read in a channel with protected history by its current subscribers only', async () => {
      const from = await addChannel(organisation, { members: ['member'] });
      const to = await addChannel(organisation, { isPrivate: true, members: ['member', 'second'] });
      const [id = 0] = await post(organisation, { channelId: from.id });
      await move('member', id, { stream_id: to.id });
      expect(await copiesOf(id)).toEqual(
        [organisation.id('member'), organisation.id('second')].sort((a, b) => a - b),
      );
      await subscribe(organisation, to.id, organisation.id('moderator'));
      expect([await reads('second', id), await reads('moderator', id)]).toEqual([true, false]);
    });

    it('include only messages that the mover can see, if the old channel has protected history', async () => {
      const from = await addChannel(organisation, { isPrivate: true, members: ['member'] });
      const to = await addChannel(organisation, { members: ['member', 'second'] });
      const [before = 0] = await post(organisation, { channelId: from.id, ageSeconds: 30 * 86_400 });
      await subscribe(organisation, from.id, organisation.id('second'));
      const [after = 0] = await post(organisation, { channelId: from.id });
      expect((await organisation.ask('second', 'PATCH', `messages/${before}`, { topic: 'x' })).body.msg).toBe(
        'Invalid message(s)',
      );
      await move('second', after, { stream_id: to.id, propagate_mode: 'change_all' });
      expect((await stored(organisation, before))?.channel_id).toBe(from.id);
      expect((await stored(organisation, after))?.channel_id).toBe(to.id);
    });

    it('are announced in both topics if requested, with the names of channel and topic', async () => {
      const from = await addChannel(organisation, { members: ['member'] });
      const to = await addChannel(organisation, { members: ['member'], name: `a & b ${from.id}` });
      const [id = 0] = await post(organisation, { channelId: from.id }, { channelId: from.id });
      await organisation.do('member', 'PATCH', `messages/${id}`, {
        stream_id: to.id,
        propagate_mode: 'change_all',
        send_notification_to_old_thread: true,
      });
      expect((await textsIn(organisation, to.id, 'lunch'))[2]).toMatch(
        `This topic came from #**${from.name}>lunch**; @_**Somebody|${organisation.id('member')}** moved it here.`,
      );
      expect(await textsIn(organisation, from.id, 'lunch')).toEqual([
        expect.stringMatching(/^This topic went to \[#a &#38; b \d+ &#62; lunch\]\(#narrow\/channel\//),
      ]);
    });

    it('keep the users’ topic policies; in an existing topic, the more visible policy wins', async () => {
      const from = await addChannel(organisation, { members: ['member', 'second', 'guest'] });
      const to = await addChannel(organisation, { members: ['member', 'second'] });
      const [id = 0] = await post(organisation, { channelId: from.id }, { channelId: to.id, topic: 'lunch' });
      const wants = [
        ['member', from.id, 3],
        ['second', from.id, 1],
        ['second', to.id, 2],
        ['guest', from.id, 3],
      ] as const;
      for (const [who, channel_id, visibility_policy] of wants) {
        const topic = { channel_id, topic: 'lunch', topic_lower: 'lunch', updated_at: 0 };
        await db()
          .insertInto('user_topics')
          .values({ user_id: organisation.id(who), ...topic, visibility_policy })
          .execute();
      }
      const member = await watch('member');
      await move('member', id, { stream_id: to.id, propagate_mode: 'change_all' });
      const rows = await db()
        .selectFrom('user_topics')
        .selectAll()
        .where('channel_id', 'in', [from.id, to.id])
        .orderBy('user_id')
        .execute();
      expect(
        rows.map(({ user_id, channel_id, visibility_policy }) => [user_id, channel_id, visibility_policy]),
      ).toEqual(
        [
          [organisation.id('member'), to.id, 3],
          [organisation.id('second'), to.id, 2],
        ].sort(([a = 0], [b = 0]) => a - b),
      );
      const last_updated = Math.floor(organisation.server.now / 1000);
      expect((await member()).slice(0, 2)).toEqual([
        { type: 'user_topic', stream_id: from.id, topic_name: 'lunch', last_updated, visibility_policy: 0 },
        { type: 'user_topic', stream_id: to.id, topic_name: 'lunch', last_updated, visibility_policy: 3 },
      ]);
    });
  });
});
