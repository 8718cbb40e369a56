import { createHash } from 'node:crypto';
import type { ChannelId } from '@waxwing/protocol';
import { afterEach, describe, expect, it } from 'vitest';
import { eachBackend } from '../../../../support/test-databases.js';
import { sharedOrganisation } from '../../organisation-under-test.js';
import { addChannel } from '../chat-under-test.js';
import { post, stored, textsIn } from './moves-under-test.js';

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  afterEach(() => organisation.do('owner', 'PATCH', 'realm', { topics_policy: 'allow_empty_topic' }));

  const ask = (id: number | string, fields: Record<string, unknown>) =>
    organisation.ask('member', 'PATCH', `messages/${id}`, fields);
  const edit = (id: number, fields: Record<string, unknown>) =>
    organisation.do('member', 'PATCH', `messages/${id}`, fields);
  const topicOf = async (id: number) => (await stored(organisation, id))?.topic;
  const channel = (topicsPolicy = 'inherit') =>
    addChannel(organisation, { topicsPolicy, members: ['member'] });

  async function lunch(count: number) {
    const { id: channelId } = await channel();
    const ids = await post(organisation, ...Array.from({ length: count }, () => ({ channelId })));
    return { channelId, ids };
  }

  it.each(['x', '1.5', '-1', '0'])(
    'an edit of message %s is refused, because this is not the integer id of a message',
    async (id) => {
      const { status, body } = await ask(id, { content: 'x' });
      expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
    },
  );

  it('an edit returns only result, msg and the detached files', async () => {
    const { ids } = await lunch(1);
    expect(await edit(ids[0] as number, { topic: 'dinner' })).toEqual({
      result: 'success',
      msg: '',
      detached_uploads: [],
    });
  });

  describe('a topic', () => {
    it('may be the empty topic, by either of its names', async () => {
      const { ids } = await lunch(2);
      const [one = 0, two = 0] = ids;
      await edit(one, { topic: '' });
      await edit(two, { topic: 'general chat' });
      expect([await topicOf(one), await topicOf(two)]).toEqual(['', '']);
    });

    it.each(['', 'general chat', '(no topic)', ' '])(
      'cannot be %j if the channel or the organization requires topics',
      async (topic) => {
        const required = await channel('disable_empty_topic');
        const inherits = await channel();
        const allows = await channel('allow_empty_topic');
        const at = ({ id }: { id: ChannelId }) => ({ channelId: id });
        const [one = 0, two = 0, three = 0] = await post(
          ...([organisation, at(required), at(inherits), at(allows)] as const),
        );
        await organisation.do('owner', 'PATCH', 'realm', { topics_policy: 'disable_empty_topic' });
        for (const id of [one, two]) {
          const { status, body } = await ask(id, { topic });
          expect([status, body]).toMatchObject([
            400,
            { code: 'BAD_REQUEST', empty_topic_display_name: 'general chat' },
          ]);
          expect(await topicOf(id)).toBe('lunch');
          await edit(id, { topic: 'named' });
        }
        await edit(three, { topic });
        expect(['', '(no topic)']).toContain(await topicOf(three));
      },
    );

    it('is truncated to max_topic_length characters', async () => {
      const { ids } = await lunch(1);
      const { max_topic_length: limit } = await organisation.do('member', 'POST', 'register');
      await edit(ids[0] as number, { topic: 'ü'.repeat(Number(limit)) });
      expect(await topicOf(ids[0] as number)).toBe('ü'.repeat(60));
      await edit(ids[0] as number, { topic: 'x'.repeat(Number(limit) + 1) });
      expect(await topicOf(ids[0] as number)).toBe(`${'x'.repeat(57)}...`);
    });
  });

  describe('propagate_mode', () => {
    it('is change_one by default: only the message moves', async () => {
      const { ids } = await lunch(3);
      const told = await organisation.watch('member', { event_types: '["update_message"]' });
      await edit(ids[1] as number, { topic: 'dinner' });
      expect(await Promise.all(ids.map(topicOf))).toEqual(['lunch', 'dinner', 'lunch']);
      expect(await told()).toMatchObject([{ propagate_mode: 'change_one', message_ids: [ids[1]] }]);
    });

    it.each([
      ['change_one', ['lunch', 'dinner', 'lunch']],
      ['change_later', ['lunch', 'dinner', 'dinner']],
      ['change_all', ['dinner', 'dinner', 'dinner']],
    ])('%s determines which messages move, and is in the event', async (propagate_mode, topics) => {
      const { ids } = await lunch(3);
      const told = await organisation.watch('member', { event_types: '["update_message"]' });
      await edit(ids[1] as number, { topic: 'dinner', propagate_mode });
      expect(await Promise.all(ids.map(topicOf))).toEqual(topics);
      const message_ids = ids.filter((_, index) => topics[index] === 'dinner');
      expect(await told()).toMatchObject([{ propagate_mode, message_ids }]);
    });

    it.each(['change_later', 'change_all'])('cannot be %s if only the content changes', async (mode) => {
      const { ids } = await lunch(1);
      const [id = 0] = ids;
      for (const same of [{}, { topic: 'lunch' }]) {
        const { status, body } = await ask(id, { content: 'x', propagate_mode: mode, ...same });
        expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
      }
      await edit(id, { content: 'x', propagate_mode: 'change_one' });
      await edit(id, { content: 'y', topic: 'dinner', propagate_mode: mode });
      expect(await stored(organisation, id)).toMatchObject({ content: 'y', topic: 'dinner' });
    });
  });

  describe('the notices of a move', () => {
    const counts = async (channelId: ChannelId) => [
      (await textsIn(organisation, channelId, 'lunch')).length,
      (await textsIn(organisation, channelId, 'dinner')).length,
    ];

    it('appear by default in the new topic, and not in the old topic', async () => {
      const { channelId, ids } = await lunch(2);
      await edit(ids[0] as number, { topic: 'dinner' });
      expect(await counts(channelId)).toEqual([1, 2]);
      expect((await textsIn(organisation, channelId, 'dinner'))[1]).toContain('came from');
    });

    it('appear only where they are requested', async () => {
      const { channelId, ids } = await lunch(3);
      const [one = 0, two = 0] = ids;
      const threads = (toOld: boolean, toNew: boolean) => ({
        topic: 'dinner',
        send_notification_to_old_thread: toOld,
        send_notification_to_new_thread: toNew,
      });
      await edit(one, threads(false, false));
      expect(await counts(channelId)).toEqual([2, 1]);
      await edit(two, threads(true, false));
      expect(await counts(channelId)).toEqual([2, 2]);
      expect((await textsIn(organisation, channelId, 'lunch'))[1]).toContain('went to');
    });
  });

  describe('a topic that is resolved', () => {
    it('moves as a whole, and send_notification_to_new_thread adds no second notice', async () => {
      const { channelId, ids } = await lunch(3);
      const resolve = (topic: string, tells: boolean) =>
        edit(ids[1] as number, {
          topic,
          propagate_mode: 'change_all',
          send_notification_to_new_thread: tells,
        });
      await resolve('✔ lunch', true);
      expect(await Promise.all(ids.map(topicOf))).toEqual(Array(3).fill('✔ lunch'));
      const texts = await textsIn(organisation, channelId, '✔ lunch');
      expect(texts.slice(3)).toEqual([expect.stringContaining('resolved this topic.')]);
      organisation.server.now += 61_000;
      await resolve('lunch', true);
      expect((await textsIn(organisation, channelId, 'lunch')).slice(4)).toEqual([
        expect.stringContaining('opened this topic again.'),
      ]);
    });

    it.each(['✔', '✔ ', '✔ general chat'])('cannot be the empty topic: %j', async (topic) => {
      const { id: channelId } = await channel();
      const [id = 0] = await post(organisation, { channelId, topic: '' });
      const { status, body } = await ask(id, { topic, propagate_mode: 'change_all' });
      expect([status, body.code, body.msg]).toEqual([
        ...[400, 'BAD_REQUEST', 'General chat cannot be marked as resolved'],
      ]);
    });
  });

  it('prev_content_sha256 must be the hash of the current content, or nothing changes', async () => {
    const { ids } = await lunch(1);
    const [id = 0] = ids;
    const hash = (text: string) => createHash('sha256').update(text).digest('hex');
    for (const fields of [{ content: 'x' }, { topic: 'dinner' }]) {
      const { status, body } = await ask(id, { ...fields, prev_content_sha256: hash('hello ') });
      expect([status, body.code]).toEqual([400, 'EXPECTATION_MISMATCH']);
    }
    expect(await stored(organisation, id)).toMatchObject({ content: 'hello', topic: 'lunch' });
    await edit(id, { content: 'ü', prev_content_sha256: hash('hello') });
    await edit(id, { content: 'ü', prev_content_sha256: 'null' });
    await edit(id, { content: 'x', prev_content_sha256: hash('ü') });
  });

  it('content and stream_id together are refused, and neither changes', async () => {
    const { channelId, ids } = await lunch(1);
    const { id: other } = await channel();
    const { status, body } = await ask(ids[0] as number, { content: 'x', stream_id: other });
    expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
    expect(await stored(organisation, ids[0] as number)).toMatchObject({
      content: 'hello',
      channel_id: channelId,
    });
  });
});
