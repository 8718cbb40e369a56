import { createHash } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { messageProblems } from '../../../../support/check-messages.js';
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
  afterEach(async () => {
    expect(await messageProblems(organisation.server.server.database.db)).toEqual([]);
  });

  const edit = (who: Parameters<typeof organisation.ask>[0], id: number, fields: Record<string, unknown>) =>
    organisation.ask(who, 'PATCH', `messages/${id}`, fields);
  const watch = (who: Parameters<typeof organisation.watch>[0]) => organisation.watch(who, capable);
  const typed = (events: unknown[], type: string) =>
    events.filter((event) => (event as { type: string }).type === type) as Record<string, unknown>[];

  describe('editing content', () => {
    it('changes the content, keeps the history, and notifies the channel’s readers with their own flags', async () => {
      const { id: channelId, name } = await addChannel(organisation, { members: ['member', 'second'] });
      const [id = 0] = await post(organisation, { channelId, content: 'hello' });
      const [sender, second, owner] = [await watch('member'), await watch('second'), await watch('owner')];
      const { status, body } = await edit('member', id, {
        content: `*bye* @**Somebody|${organisation.id('second')}**  \n`,
        prev_content_sha256: createHash('sha256').update('hello').digest('hex'),
      });
      expect([status, body]).toEqual([200, { result: 'success', msg: '', detached_uploads: [] }]);
      const content = `*bye* @**Somebody|${organisation.id('second')}**`;
      const told = {
        type: 'update_message',
        user_id: organisation.id('member'),
        edit_timestamp: Math.floor(organisation.server.now / 1000),
        message_id: id,
        message_ids: [id],
        rendering_only: false,
        stream_id: channelId,
        stream_name: name,
        content,
        rendered_content: expect.stringContaining('<em>bye</em>'),
        orig_content: 'hello',
        orig_rendered_content: '<p>hello</p>',
        is_me_message: false,
      };
      expect(await sender()).toEqual([{ ...told, flags: ['read'] }]);
      expect(await second()).toEqual([{ ...told, flags: ['mentioned'] }]);
      expect(await owner()).toEqual([]);
      expect(await stored(organisation, id)).toMatchObject({ content, last_moved_at: null });
    });

    it('clears the flags of users who are no longer mentioned', async () => {
      const { id: channelId } = await addChannel(organisation, { members: ['member', 'second'] });
      const [id = 0] = await post(organisation, {
        channelId,
        content: `@**all** @**Somebody|${organisation.id('second')}**`,
      });
      const second = await watch('second');
      await edit('member', id, { content: 'nobody' });
      expect(typed(await second(), 'update_message')).toMatchObject([{ flags: [] }]);
    });

    it('fails for the second of two concurrent edits of the same text', async () => {
      const { id: channelId } = await addChannel(organisation, { members: ['member'] });
      const [id = 0] = await post(organisation, { channelId, content: 'hello' });
      const prev_content_sha256 = createHash('sha256').update('hello').digest('hex');
      const answers = await Promise.all(
        ['one', 'two', 'three'].map((content) => edit('member', id, { content, prev_content_sha256 })),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400]);
      const refused = answers.filter(({ status }) => status === 400);
      for (const { body } of refused)
        expect(body).toMatchObject({ code: 'EXPECTATION_MISMATCH', field_name: 'prev_content_sha256' });
    });

    it('replaces invisible text with (deleted), and truncates long text', async () => {
      const { id: channelId } = await addChannel(organisation, { members: ['member'] });
      const [id = 0] = await post(organisation, { channelId });
      for (const content of [' \n ', '\u200b', '\u3164\u2800', '\u{e0061}\ufe0f\n\u00a0']) {
        await edit('member', id, { content: 'hello' });
        expect((await edit('member', id, { content })).status).toBe(200);
        expect((await stored(organisation, id))?.content).toBe('(deleted)');
      }
      await edit('member', id, { content: 'x'.repeat(10_001) });
      const content = (await stored(organisation, id))?.content ?? '';
      expect([content.length, content.endsWith('x\n[message truncated]')]).toEqual([10_000, true]);
    });

    it('notifies only the participants of a direct message', async () => {
      const [id = 0] = await post(organisation, { to: ['member', 'second'] });
      const [second, owner] = [await watch('second'), await watch('owner')];
      expect((await edit('member', id, { content: 'bye' })).status).toBe(200);
      const [event] = await second();
      expect(event).toMatchObject({ type: 'update_message', content: 'bye', message_ids: [id] });
      expect(event).not.toHaveProperty('stream_id');
      expect(event).not.toHaveProperty('propagate_mode');
      expect(await owner()).toEqual([]);
    });

    it('can mention all users of a large channel only if the editor may mention many users', async () => {
      const { id: channelId } = await addChannel(organisation, { members: ['member'] });
      const [id = 0] = await post(organisation, { channelId });
      for (let count = 0; count < 15; count++) {
        const { userId } = await organisation.server.addAccount(`crowd${count}.${channelId}@example.com`);
        await subscribe(organisation, channelId, userId);
        const user = { sender_id: userId };
        await organisation.server.server.database.db
          .updateTable('messages')
          .set(user)
          .where('id', 'in', await post(organisation, { channelId }))
          .execute();
      }
      expect((await edit('member', id, { content: '@**all**' })).body.code).toBe(
        'STREAM_WILDCARD_MENTION_NOT_ALLOWED',
      );
      expect((await edit('member', id, { content: '@**topic**' })).body.code).toBe(
        'TOPIC_WILDCARD_MENTION_NOT_ALLOWED',
      );
      expect((await edit('member', id, { content: '@_**all** `@**all**`' })).status).toBe(200);
    });
  });

  describe('moving', () => {
    it('one message leaves the others in place, and posts a notice of its origin in the new topic', async () => {
      const { id: channelId, name } = await addChannel(organisation, { members: ['member', 'second'] });
      const [first = 0, id = 0] = await post(organisation, { channelId }, { channelId });
      const second = await watch('second');
      await organisation.do('second', 'PATCH', `messages/${id}`, { topic: 'dinner' });
      const [update, notice] = await second();
      expect(update).toEqual({
        type: 'update_message',
        user_id: organisation.id('second'),
        edit_timestamp: Math.floor(organisation.server.now / 1000),
        message_id: id,
        message_ids: [id],
        flags: [],
        rendering_only: false,
        stream_id: channelId,
        stream_name: name,
        orig_subject: 'lunch',
        propagate_mode: 'change_one',
        subject: 'dinner',
        topic_links: [],
      });
      expect(notice).toMatchObject({ type: 'message', flags: ['read'], message: { subject: 'dinner' } });
      expect(await stored(organisation, first)).toMatchObject({ topic: 'lunch', last_moved_at: null });
      const [, text = ''] = await textsIn(organisation, channelId, 'dinner');
      expect(text).toMatch(
        new RegExp(
          `^\\[One message\\]\\(http.*/near/${id}\\) came from #\\*\\*${name}>lunch\\*\\*; @_\\*\\*Somebody\\|`,
        ),
      );
    });

    it('this and later messages, or the whole topic, ignores the letter case of topics', async () => {
      const { id: channelId } = await addChannel(organisation, { members: ['member'] });
      const to = (topic: string) => ({ channelId, topic });
      const [a = 0, b = 0, c = 0] = await post(organisation, to('Lunch'), to('lunch'), to('LUNCH'));
      await organisation.do('member', 'PATCH', `messages/${b}`, {
        topic: 'dinner',
        propagate_mode: 'change_later',
        send_notification_to_old_thread: true,
      });
      const topics = async () =>
        Promise.all([a, b, c].map(async (id) => (await stored(organisation, id))?.topic));
      expect(await topics()).toEqual(['Lunch', 'dinner', 'dinner']);
      expect((await textsIn(organisation, channelId, 'lunch'))[1]).toMatch(/^2 messages went to /);
      await organisation.do('member', 'PATCH', `messages/${c}`, {
        subject: 'supper',
        propagate_mode: 'change_all',
        send_notification_to_new_thread: false,
      });
      expect(await topics()).toEqual(['Lunch', 'supper', 'supper']);
    });

    it('a topic to its resolved name and back within a minute leaves no notice', async () => {
      const { id: channelId } = await addChannel(organisation, { members: ['member', 'second'] });
      const [id = 0] = await post(organisation, { channelId });
      const second = await watch('second');
      const resolve = (topic: string) =>
        organisation.do('member', 'PATCH', `messages/${id}`, { topic, propagate_mode: 'change_all' });
      await resolve('✔ lunch');
      expect(await textsIn(organisation, channelId, '✔ lunch')).toEqual([
        'hello',
        expect.stringMatching(/^@_\*\*Somebody\|\d+\*\* resolved this topic\.$/),
      ]);
      expect((await stored(organisation, id))?.last_moved_at).toBeNull();
      await resolve('lunch');
      expect(await textsIn(organisation, channelId, 'lunch')).toEqual(['hello']);
      const types = (await second()).map((event) => (event as { type: string }).type);
      expect(types).toEqual(['update_message', 'message', 'update_message', 'delete_message']);
      await resolve('✔ lunch');
      organisation.server.now += 61_000;
      await resolve('lunch');
      expect(await textsIn(organisation, channelId, 'lunch')).toHaveLength(3);
    });

    it('shows the empty topic’s display name to clients that do not support the empty topic', async () => {
      const { id: channelId } = await addChannel(organisation, { members: ['member', 'second'] });
      const [id = 0] = await post(organisation, { channelId });
      const [old, capableQueue] = [await organisation.watch('second'), await watch('second')];
      await organisation.do('member', 'PATCH', `messages/${id}`, {
        topic: 'general chat',
        send_notification_to_new_thread: false,
      });
      expect(typed(await old(), 'update_message')).toMatchObject([{ subject: 'general chat' }]);
      expect(typed(await capableQueue(), 'update_message')).toMatchObject([{ subject: '' }]);
      expect((await stored(organisation, id))?.topic).toBe('');
    });

    it('a whole topic is refused if some messages are too old; the recent messages can then be moved', async () => {
      const { id: channelId } = await addChannel(organisation, { members: ['member'] });
      const old = { channelId, ageSeconds: 8 * 86_400 };
      const [tooOld = 0, first = 0, last = 0] = await post(organisation, old, { channelId }, { channelId });
      for (const id of [last, tooOld]) {
        const { status, body } = await edit('member', id, { topic: 'dinner', propagate_mode: 'change_all' });
        expect([status, body]).toMatchObject([
          400,
          {
            code: 'MOVE_MESSAGES_TIME_LIMIT_EXCEEDED',
            first_message_id_allowed_to_move: first,
            total_messages_in_topic: 3,
            total_messages_allowed_to_move: 2,
          },
        ]);
      }
      const retry = { topic: 'dinner', propagate_mode: 'change_later' };
      expect((await edit('member', first, retry)).status).toBe(200);
      expect(await textsIn(organisation, channelId, 'dinner')).toHaveLength(3);
    });

    it('to the current channel changes only the topic, or nothing if the topic stays the same', async () => {
      const { id: channelId } = await addChannel(organisation, { members: ['member', 'second'] });
      const [id = 0] = await post(organisation, { channelId });
      const events = await watch('second');
      const alone = await edit('member', id, { stream_id: channelId });
      expect([alone.status, alone.body.msg]).toEqual([400, 'Nothing to change']);
      await edit('member', id, { stream_id: channelId, topic: 'dinner' });
      const [event] = typed(await events(), 'update_message');
      expect(event).toMatchObject({ stream_id: channelId, orig_subject: 'lunch', subject: 'dinner' });
      expect(event).not.toHaveProperty('new_stream_id');
    });

    it('fails for invalid targets and parameters, with the error messages of the chat API', async () => {
      const { id: channelId } = await addChannel(organisation, { members: ['member'] });
      const [id = 0] = await post(organisation, { channelId });
      const [direct = 0] = await post(organisation, { to: ['member', 'second'] });
      for (const [target, fields, said] of [
        [999_999, { content: 'x' }, 'Invalid message(s)'],
        [direct, { topic: 'x' }, 'Direct messages cannot have topics.'],
        [direct, { content: 'x', topic: '' }, 'Direct messages cannot have topics.'],
        [direct, { stream_id: channelId }, 'Direct messages cannot be moved to channels.'],
        [id, { content: 'x', stream_id: channelId }, 'Cannot change message content while changing channel'],
        [id, { topic: 'a\u0007b' }, 'Invalid character in topic, at position 2: leave it out.'],
        [id, { content: 'a\0b' }, 'Invalid content: must not contain the character U+0000'],
        [id, { stream_id: 999_999 }, 'Invalid channel ID'],
        [id, { topic: 'x', propagate_mode: 'some' }, expect.stringContaining('propagate_mode')],
      ] as const) {
        const { status, body } = await edit('member', target, fields);
        expect([status, body.code, body.msg]).toEqual([400, 'BAD_REQUEST', said]);
      }
      const both = await edit('member', id, { topic: 'x', subject: 'y' });
      expect(both.body).toMatchObject({
        code: 'REQUEST_CONFUSING_VAR',
        var_name1: 'topic',
        var_name2: 'subject',
      });
    });
  });
});
