import { describe, expect, it } from 'vitest';
import { eachBackend } from '../../../../support/test-databases.js';
import { sharedOrganisation } from '../../organisation-under-test.js';
import { addChannel } from '../chat-under-test.js';
import { post } from '../edit/moves-under-test.js';

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  const seconds = () => Math.floor(organisation.server.now / 1000);

  async function history(id: number, fields: Record<string, unknown> = {}) {
    return (await organisation.do('member', 'GET', `messages/${id}/history`, fields)).message_history;
  }
  const silent = { send_notification_to_new_thread: false };
  const policy = (word: string) =>
    organisation.do('owner', 'PATCH', 'realm', { message_edit_history_visibility_policy: word });

  async function edited() {
    const [from, to] = [
      await addChannel(organisation, { members: ['member'] }),
      await addChannel(organisation, { members: ['member'] }),
    ];
    const [id = 0] = await post(organisation, { channelId: from.id, content: 'one', ageSeconds: 30 });
    await organisation.do('member', 'PATCH', `messages/${id}`, { content: 'two' });
    await organisation.do('second', 'PATCH', `messages/${id}`, { topic: '', ...silent });
    await organisation.do('member', 'PATCH', `messages/${id}`, { stream_id: to.id, ...silent });
    await organisation.do('member', 'PATCH', `messages/${id}`, {
      content: 'three',
      topic: 'dinner',
      ...silent,
    });
    return { id, from: from.id, to: to.id };
  }

  describe('the history of a message', () => {
    it('has only the original if it was never edited', async () => {
      const { id: channelId } = await addChannel(organisation, { members: ['member'] });
      const [id = 0] = await post(organisation, { channelId, content: '*x*', ageSeconds: 0 });
      expect(await history(id)).toEqual([
        {
          topic: 'lunch',
          content: '*x*',
          rendered_content: '<p><em>x</em></p>',
          user_id: organisation.id('member'),
          timestamp: seconds(),
        },
      ]);
    });

    it('has a snapshot for each edit, oldest first, with only the changed fields', async () => {
      const { id, from, to } = await edited();
      const [member, second] = [organisation.id('member'), organisation.id('second')];
      const at = { timestamp: seconds() };
      expect(await history(id, { allow_empty_topic_name: true })).toEqual([
        {
          topic: 'lunch',
          content: 'one',
          rendered_content: '<p>one</p>',
          user_id: member,
          timestamp: seconds() - 30,
        },
        {
          topic: 'lunch',
          content: 'two',
          rendered_content: '<p>two</p>',
          user_id: member,
          ...at,
          prev_content: 'one',
          prev_rendered_content: '<p>one</p>',
          content_html_diff:
            '<div><p><span class="highlight_text_deleted">one</span><span class="highlight_text_inserted">two</span></p></div>',
        },
        {
          topic: '',
          prev_topic: 'lunch',
          content: 'two',
          rendered_content: '<p>two</p>',
          user_id: second,
          ...at,
        },
        {
          topic: '',
          prev_stream: from,
          stream: to,
          content: 'two',
          rendered_content: '<p>two</p>',
          user_id: member,
          ...at,
        },
        {
          topic: 'dinner',
          prev_topic: '',
          content: 'three',
          rendered_content: '<p>three</p>',
          user_id: member,
          prev_content: 'two',
          prev_rendered_content: '<p>two</p>',
          ...at,
          content_html_diff: expect.stringContaining('three'),
        },
      ]);
    });

    it('shows the empty topic by its display name, unless the client supports it', async () => {
      const { id } = await edited();
      const told = (await history(id)) as { topic: string; prev_topic?: string }[];
      expect(told.map(({ topic }) => topic)).toEqual([
        'lunch',
        'lunch',
        'general chat',
        'general chat',
        'dinner',
      ]);
      expect(told.at(-1)?.prev_topic).toBe('general chat');
    });

    it('has no topic for a direct message', async () => {
      const [id = 0] = await post(organisation, { to: ['member', 'second'] });
      expect(await history(id)).toMatchObject([{ topic: '' }]);
    });

    it('has only moves, without earlier content, with the policy moves', async () => {
      const { id } = await edited();
      await policy('moves');
      const told = (await history(id)) as Record<string, unknown>[];
      expect(told).toHaveLength(4);
      for (const snapshot of told) {
        for (const field of ['prev_content', 'prev_rendered_content', 'content_html_diff'])
          expect(snapshot).not.toHaveProperty(field);
      }
      await policy('all');
    });

    it('hides texts before the first move with the policy moves, and shows the current text if there was no move', async () => {
      const { id: channelId } = await addChannel(organisation, { members: ['member'] });
      const [moved = 0, edited = 0] = await post(
        organisation,
        { channelId, content: 'secret' },
        { channelId, content: 'secret' },
      );
      for (const id of [moved, edited])
        await organisation.do('member', 'PATCH', `messages/${id}`, { content: 'when moved' });
      await organisation.do('member', 'PATCH', `messages/${moved}`, { topic: 'dinner', ...silent });
      await organisation.do('member', 'PATCH', `messages/${moved}`, { content: 'today' });
      await policy('moves');
      const shown = async (id: number) =>
        ((await history(id)) as Record<string, unknown>[]).map((each) => [
          each.topic,
          each.content,
          each.rendered_content,
        ]);
      expect(await shown(moved)).toEqual([
        ['lunch', 'when moved', '<p>when moved</p>'],
        ['dinner', 'when moved', '<p>when moved</p>'],
      ]);
      expect(await shown(edited)).toEqual([['lunch', 'when moved', '<p>when moved</p>']]);
      await policy('all');
    });

    it('is refused with the policy none, before any lookup', async () => {
      await policy('none');
      const { status, body } = await organisation.ask('member', 'GET', 'messages/999999/history');
      expect([status, body.code, body.msg]).toEqual([
        400,
        'BAD_REQUEST',
        'Message edit history is disabled in this organization.',
      ]);
      await policy('all');
    });

    it('is refused for an unknown message, and for a message that the user cannot read', async () => {
      const { id: channelId } = await addChannel(organisation, { isPrivate: true, members: ['member'] });
      const [id = 0] = await post(organisation, { channelId });
      for (const [who, asked] of [
        ['second', id],
        ['member', 999_999],
      ] as const) {
        const { status, body } = await organisation.ask(who, 'GET', `messages/${asked}/history`);
        expect([status, body.code, body.msg]).toEqual([400, 'BAD_REQUEST', 'Invalid message(s)']);
      }
    });
  });
});
