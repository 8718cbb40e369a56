import { beforeAll, describe, expect, it } from 'vitest';
import { messageId } from '../../../support/ids.js';
import { eachBackend } from '../../../support/test-databases.js';
import { sharedOrganisation } from '../organisation-under-test.js';
import { addChannel } from './chat-under-test.js';

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  type Who = Parameters<typeof organisation.ask>[0];
  let channel: { id: number; name: string };
  let hidden: { id: number; name: string };
  const ids: number[] = [];
  const send = async (who: Who, parameters: Record<string, unknown>) => {
    const { id } = await organisation.do(who, 'POST', 'messages', parameters);
    return Number(id);
  };
  const list = async (who: Who, parameters: Record<string, unknown>) =>
    (await organisation.do(who, 'GET', 'messages', parameters)) as {
      messages: { id: number; flags: string[]; [field: string]: unknown }[];
      [field: string]: unknown;
    };
  const idsOf = async (who: Who, parameters: Record<string, unknown>) =>
    (await list(who, parameters)).messages.map(({ id }) => id);
  const refusal = async (parameters: Record<string, unknown>) =>
    (await organisation.ask('member', 'GET', 'messages', parameters)).body;

  beforeAll(async () => {
    channel = await addChannel(organisation, { members: ['member', 'second'] });
    hidden = await addChannel(organisation, { isPrivate: true, members: ['second'] });
    for (let index = 0; index < 6; index += 1) {
      const topic = index % 2 === 0 ? 'Even' : 'odd';
      const content = `message *${index}* of <b> ${index === 3 ? 'Wörter & more' : 'nothing'}`;
      ids.push(await send('member', { type: 'channel', to: channel.id, topic, content }));
    }
    await send('second', { type: 'channel', to: hidden.id, topic: 'secret', content: 'hidden Wörter' });
  });

  describe('messages', () => {
    it('are returned around an anchor, in ascending order, with flags that say what was found', async () => {
      const narrow = [{ operator: 'channel', operand: channel.id }];
      const around = await list('second', { anchor: ids[2], num_before: 1, num_after: 2, narrow });
      expect(around.messages.map(({ id }) => id)).toEqual(ids.slice(1, 5));
      expect(around).toMatchObject({
        anchor: ids[2],
        found_anchor: true,
        found_oldest: false,
        found_newest: false,
        history_limited: false,
      });
      const newest = await list('second', { anchor: 'newest', num_before: 10, num_after: 5, narrow });
      expect(newest).toMatchObject({
        anchor: 10_000_000_000_000_000,
        found_anchor: false,
        found_oldest: true,
        found_newest: true,
      });
      expect(newest.messages.map(({ id }) => id)).toEqual(ids);
      const oldest = await list('second', { anchor: 'oldest', num_after: 2, narrow });
      expect(oldest).toMatchObject({ anchor: 0, found_oldest: true, found_newest: false });
      expect(oldest.messages.map(({ id }) => id)).toEqual(ids.slice(0, 2));
      expect(await idsOf('second', { anchor: ids[2], include_anchor: false, num_after: 2, narrow })).toEqual(
        ids.slice(3, 5),
      );
      expect(await idsOf('second', { anchor: 'first_unread', num_after: 1, narrow })).toEqual(
        ids.slice(0, 2),
      );
      expect(await list('second', { anchor: '99999999999999999999', num_before: 1, narrow })).toMatchObject({
        anchor: 10_000_000_000_000_000,
      });
    });

    it('are returned from a date on, or the newest messages if none is that recent', async () => {
      const { now } = organisation.server;
      const place = { type: 'channel', to: channel.id, topic: 'dates' };
      const sent: number[] = [];
      for (const day of [1, 2, 3]) {
        organisation.server.now = Date.UTC(2026, 5, day, 12);
        sent.push(await send('member', { ...place, content: `day ${day}` }));
      }
      organisation.server.now = now;
      const narrow = [{ operator: 'topic', operand: 'dates' }];
      const from = (anchor_date: string) =>
        idsOf('second', { anchor: 'date', anchor_date, num_after: 5, narrow });
      for (const [date, expected] of [
        ['2026-05-30', sent],
        ['2026-06-01T12:00', sent],
        ['2026-06-02', sent.slice(1)],
        ['2026-06-02T13:00:00+01:00', sent.slice(1)],
        ['2026-06-02T12:00:00.001Z', sent.slice(2)],
      ] as const)
        expect([date, await from(date)]).toEqual([date, expected]);
      const beyond = { anchor: 'date', anchor_date: '2026-07-01', num_before: 1, narrow };
      expect(await idsOf('second', beyond)).toEqual(sent.slice(2));
      expect((await refusal({ anchor: 'date' })).msg).toBe(
        'Missing anchor_date: the anchor "date" requires it',
      );
      expect((await refusal({ anchor: 'date', anchor_date: 'June 1st' })).msg).toBe(
        'Invalid anchor_date: must be an ISO 8601 date or time',
      );
    });

    it('are found by the user they mention, and in archived channels if the reader has a copy', async () => {
      const other = await addChannel(organisation, { members: ['member', 'second'] });
      const user = organisation.id('second');
      const [named, silent] = [
        await send('member', { type: 'channel', to: other.id, topic: 'a', content: `@**|${user}**` }),
        await send('member', { type: 'channel', to: other.id, topic: 'a', content: `@_**|${user}**` }),
      ];
      const mentions = (operand: unknown, negated = false) => [
        { operator: 'channel', operand: other.id },
        { operator: 'mentions', operand, negated },
      ];
      const all = { anchor: 'newest', num_before: 9 };
      expect(await idsOf('member', { ...all, narrow: mentions(user) })).toEqual([named]);
      expect(await idsOf('member', { ...all, narrow: mentions('second@example.com') })).toEqual([named]);
      expect(await idsOf('member', { ...all, narrow: mentions(user, true) })).toEqual([silent]);
      expect((await refusal({ ...all, narrow: mentions([user, organisation.id('owner')]) })).code).toBe(
        'BAD_NARROW',
      );
      await organisation.do('owner', 'DELETE', `streams/${other.id}`);
      const narrow = [{ operator: 'channels', operand: 'archived' }];
      expect(await idsOf('second', { ...all, narrow })).toEqual([named, silent]);
      expect(await idsOf('administrator', { ...all, narrow })).toEqual([]);
    });

    it('are found with their history in a topic that is named archived', async () => {
      const { id, name } = await addChannel(organisation, { members: ['member'] });
      const sent = await send('member', { type: 'channel', to: id, topic: 'archived', content: 'earlier' });
      await organisation.do('owner', 'POST', 'users/me/subscriptions', {
        subscriptions: [{ name }],
        principals: [organisation.id('second')],
      });
      const narrow = [{ operator: 'topic', operand: 'archived' }];
      expect(await idsOf('second', { anchor: 'newest', num_before: 9, narrow })).toEqual([sent]);
    });

    it('can be fetched by id if the reader can read them', async () => {
      const { messages, ...rest } = await list('moderator', {
        message_ids: [...ids.slice(0, 2), 999_999],
        anchor: null,
      });
      expect(messages.map(({ id }) => id)).toEqual(ids.slice(0, 2));
      expect(rest).not.toHaveProperty('anchor');
      expect(messages[0]?.flags).toEqual(['read', 'historical']);
      expect((await refusal({ message_ids: ids, anchor: 'newest' })).msg).toBe(
        'message_ids cannot be combined with anchor, num_before or num_after',
      );
    });

    it('are refused if the parameters contradict each other', async () => {
      expect((await refusal({ num_before: 1 })).msg).toBe('Missing anchor: specify anchor or message_ids');
      expect((await refusal({ anchor: null })).msg).toBe('Missing anchor: specify anchor or message_ids');
      expect((await refusal({ anchor: 'soon' })).msg).toBe(
        'Invalid anchor: must be an id, or one of newest, oldest, first_unread, date',
      );
      expect((await refusal({ anchor: 1, num_before: 2500, num_after: 2501 })).msg).toBe(
        'Too many messages requested (maximum 5000).',
      );
      expect((await refusal({ anchor: 1, num_before: -1 })).msg).toBe(
        'num_before and num_after must not be negative',
      );
      expect((await refusal({ anchor: 1, num_before: 1, num_after: 1, include_anchor: false })).msg).toBe(
        'The anchor can only be excluded at an end of the range',
      );
    });

    it('have the fields that clients read, in the requested format', async () => {
      const { messages } = await list('second', { message_ids: [ids[0]] });
      expect(messages[0]).toMatchObject({
        id: ids[0],
        sender_id: organisation.id('member'),
        sender_email: 'member@example.com',
        sender_full_name: 'Somebody',
        sender_realm_str: '',
        avatar_url: null,
        type: 'stream',
        stream_id: channel.id,
        display_recipient: channel.name,
        subject: 'Even',
        content: '<p>message <em>0</em> of &lt;b&gt; nothing</p>',
        content_type: 'text/html',
        is_me_message: false,
        reactions: [],
        submessages: [],
        topic_links: [],
        flags: [],
      });
      expect(messages[0]).not.toHaveProperty('edit_history');
      const source = await list('second', {
        message_ids: [ids[0]],
        apply_markdown: false,
        client_gravatar: false,
      });
      expect(source.messages[0]).toMatchObject({
        content: 'message *0* of <b> nothing',
        content_type: 'text/x-markdown',
        avatar_url: expect.stringContaining('https://secure.gravatar.com/avatar/'),
      });
    });

    it('show the empty topic’s display name to clients that do not support the empty topic', async () => {
      const id = await send('member', { type: 'channel', to: channel.id, topic: '', content: 'a' });
      const subjectOf = async (parameters: Record<string, unknown>) =>
        (await list('second', { message_ids: [id], ...parameters })).messages[0]?.subject;
      expect(await subjectOf({})).toBe('general chat');
      expect(await subjectOf({ allow_empty_topic_name: true })).toBe('');
    });
  });

  describe('one message', () => {
    it('is returned with its source if the user can read it', async () => {
      const body = await organisation.do('second', 'GET', `messages/${ids[0]}`);
      expect(body).toMatchObject({ raw_content: 'message *0* of <b> nothing', message: { id: ids[0] } });
      const [secret] = await idsOf('second', {
        anchor: 'newest',
        num_before: 1,
        narrow: [['channel', hidden.id]],
      });
      for (const id of [secret, 999_999]) {
        const { body: refused } = await organisation.ask('member', 'GET', `messages/${id}`);
        expect(refused).toMatchObject({ code: 'BAD_REQUEST', msg: 'Invalid message(s)' });
      }
    });
  });

  describe('a text', () => {
    it('is rendered as if it were sent', async () => {
      const { rendered } = await organisation.do('member', 'POST', 'messages/render', { content: '**a**' });
      expect(rendered).toBe('<p><strong>a</strong></p>');
      const refused = await organisation.ask('member', 'POST', 'messages/render', { content: ' ' });
      expect(refused.body.msg).toBe('Message must not be empty');
    });
  });

  describe('a search', () => {
    const search = (who: Who, operand: string, more: unknown[] = []) =>
      list(who, { anchor: 'newest', num_before: 10, narrow: [['search', operand], ...more] });

    it('finds whole words in readable texts and topics, and marks them', async () => {
      const { messages } = await search('member', 'WÖRTER more');
      expect(messages.map(({ id }) => id)).toEqual([ids[3]]);
      expect(messages[0]).toMatchObject({
        match_content:
          '<p>message <em>3</em> of &lt;b&gt; <span class="highlight">Wörter</span> &amp; <span class="highlight">more</span></p>',
        match_subject: 'odd',
      });
      expect((await search('second', 'even')).messages.map(({ id }) => id)).toEqual([ids[0], ids[2], ids[4]]);
      expect((await search('second', 'even')).messages[0]?.match_subject).toBe(
        '<span class="highlight">Even</span>',
      );
      expect((await search('member', 'secret')).messages).toEqual([]);
      expect((await search('member', '"); drop')).messages).toEqual([]);
      expect((await search('member', '*')).messages).toEqual([]);
    });

    it('follows edits and deletions', async () => {
      const id = await send('member', { type: 'channel', to: channel.id, topic: 'a', content: 'before' });
      const { database } = organisation.server.server;
      await database.write(({ db }) =>
        db.updateTable('messages').set({ content: 'afterwards' }).where('id', '=', messageId(id)).execute(),
      );
      expect((await search('member', 'before')).messages).toEqual([]);
      expect((await search('member', 'afterwards')).messages).toHaveLength(1);
      await database.write(async ({ db }) => {
        await db.deleteFrom('user_messages').where('message_id', '=', messageId(id)).execute();
        await db.deleteFrom('messages').where('id', '=', messageId(id)).execute();
      });
      expect((await search('member', 'afterwards')).messages).toEqual([]);
    });
  });

  describe('the topics of a channel', () => {
    it('are listed once each, ignoring case, newest first', async () => {
      const { id } = await addChannel(organisation, { members: ['member'] });
      const to = { type: 'channel', to: id, content: 'a' };
      await send('member', { ...to, topic: 'one' });
      const two = await send('member', { ...to, topic: '' });
      const one = await send('member', { ...to, topic: 'ONE' });
      const { topics } = await organisation.do('second', 'GET', `users/me/${id}/topics`);
      expect(topics).toEqual([
        { name: 'ONE', max_id: one },
        { name: 'general chat', max_id: two },
      ]);
      const refused = await organisation.ask('member', 'GET', `users/me/${hidden.id}/topics`);
      expect(refused.body.msg).toBe('Invalid channel ID');
    });
  });
});
