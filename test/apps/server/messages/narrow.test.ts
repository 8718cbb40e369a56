import type { ChannelId } from '@waxwing/protocol';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { messageFlags } from '#server/conversations/messages/message-flags.js';
import { wordsOf } from '#server/conversations/messages/search/search-messages.js';
import type { ServerTransaction } from '#server/tables.js';
import { eachBackend } from '../../../support/test-databases.js';
import { sharedOrganisation } from '../organisation-under-test.js';
import { addChannel } from './chat-under-test.js';

interface Row {
  readonly id: number;
  readonly channel_id: number | null;
  readonly topic: string;
  readonly content: string;
  readonly sender_id: number;
  readonly has_link: number;
  readonly participants: readonly number[];
  readonly flags: number | undefined;
}

type Term = readonly [operator: string, operand: unknown, isNegated: boolean];

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  let open: ChannelId;
  let muted: ChannelId;
  let hidden: ChannelId;
  let rows: Row[];

  beforeAll(async () => {
    open = (await addChannel(organisation, { members: ['member', 'second'] })).id;
    muted = (await addChannel(organisation, { members: ['member', 'second'] })).id;
    hidden = (await addChannel(organisation, { isPrivate: true, members: ['second'] })).id;
    const foreign = (await addChannel(organisation, { members: ['second'] })).id;
    const send = (who: 'member' | 'second', parameters: Record<string, unknown>) =>
      organisation.do(who, 'POST', 'messages', { read_by_sender: true, ...parameters });
    for (const channel of [open, muted, hidden, foreign]) {
      for (const topic of ['a', 'A', '✔ b', '']) {
        await send('second', { type: 'channel', to: channel, topic, content: `${channel} @**all**` });
        if (channel !== hidden)
          await send('member', { type: 'channel', to: channel, topic, content: 'https://example.com' });
      }
    }
    await send('member', { type: 'direct', to: [organisation.id('second')], content: 'a' });
    await send('second', {
      type: 'direct',
      to: [organisation.id('member'), organisation.id('owner')],
      content: 'a',
    });
    await send('second', { type: 'direct', to: [organisation.id('owner')], content: 'a' });
    await organisation.server.server.database.write(async ({ db }: ServerTransaction) => {
      const me = organisation.id('member');
      await db.updateTable('subscriptions').set({ is_muted: 1 }).where('channel_id', '=', muted).execute();
      await db.deleteFrom('user_topics').execute();
      const wish = { user_id: me, updated_at: 0 };
      await db
        .insertInto('user_topics')
        .values([
          { ...wish, channel_id: muted, topic: 'a', topic_lower: 'a', visibility_policy: 3 },
          { ...wish, channel_id: open, topic: '', topic_lower: '', visibility_policy: 1 },
        ])
        .execute();
    });
    rows = await readRows();
  });

  /** The messages that the member can read, with the facts that the oracle needs. */
  async function readRows(): Promise<Row[]> {
    const { db } = organisation.server.server.database;
    const me = organisation.id('member');
    const messages = await db.selectFrom('messages').selectAll().orderBy('id').execute();
    const people = await db.selectFrom('conversation_participants').selectAll().execute();
    const copies = await db.selectFrom('user_messages').selectAll().where('user_id', '=', me).execute();
    return messages
      .map((message) => ({
        ...message,
        participants: people
          .filter(({ conversation_id }) => conversation_id === message.conversation_id)
          .map(({ user_id }) => user_id),
        flags: copies.find(({ message_id }) => message_id === message.id)?.flags,
      }))
      .filter(({ channel_id, participants }) =>
        channel_id === null ? participants.includes(me) : channel_id !== hidden,
      );
  }

  function meets(row: Row, [operator, operand]: Term): boolean {
    const has = (...bits: number[]) => bits.some((bit) => ((row.flags ?? messageFlags.read) & bit) !== 0);
    const topic = row.topic.toLowerCase();
    const isMuted = (row.channel_id === muted && topic !== 'a') || (row.channel_id === open && topic === '');
    const people = new Set([organisation.id('member'), ...(Array.isArray(operand) ? operand : [])]);
    switch (
      `${operator} ${operator === 'is' || operator === 'in' || operator === 'has' ? operand : ''}`.trim()
    ) {
      case 'channel':
        return row.channel_id === operand;
      case 'topic':
        return (
          row.channel_id !== null &&
          topic === (operand === 'general chat' ? '' : String(operand).toLowerCase())
        );
      case 'sender':
        return row.sender_id === operand;
      case 'dm':
        return row.participants.length === people.size && row.participants.every((id) => people.has(id));
      case 'dm-including':
        return row.participants.includes(Number(operand));
      case 'is dm':
        return row.channel_id === null;
      case 'is unread':
        return !has(messageFlags.read);
      case 'is mentioned':
        return has(messageFlags.stream_wildcard_mentioned);
      case 'is resolved':
        return row.channel_id !== null && row.topic.startsWith('✔ ');
      case 'is followed':
        return row.channel_id === muted && topic === 'a';
      case 'is muted':
        return isMuted;
      case 'in home':
        return !isMuted;
      case 'in all':
        return true;
      case 'has link':
        return row.has_link === 1;
      case 'has reaction':
        return false;
      case 'id':
        return row.id === operand;
      case 'search':
        return wordsOf(`${row.topic} ${row.content}`).includes(String(operand).toLowerCase());
      case 'channels':
        return operand === 'public' && row.channel_id !== null;
      default:
        throw new Error(`no oracle for ${operator} ${String(operand)}`);
    }
  }

  const ask = async (terms: readonly Term[]) => {
    const narrow = terms.map(([operator, operand, negated]) => ({ operator, operand, negated }));
    const answer = await organisation.do('member', 'GET', 'messages', {
      anchor: 'newest',
      num_before: 200,
      narrow,
    });
    return (answer.messages as { id: number }[]).map(({ id }) => id);
  };

  it('a narrow finds the same messages as a walk over all messages', async () => {
    const operand = fc.oneof(
      fc.constantFrom<readonly [string, unknown]>(
        ['topic', 'a'],
        ['topic', 'general chat'],
        ['is', 'dm'],
        ['is', 'unread'],
        ['is', 'mentioned'],
        ['is', 'resolved'],
        ['is', 'followed'],
        ['is', 'muted'],
        ['in', 'home'],
        ['in', 'all'],
        ['has', 'link'],
        ['has', 'reaction'],
        ['channels', 'public'],
        ['channels', 'web-public'],
        ['search', 'a'],
        ['search', 'All'],
      ),
      fc.constant(undefined).map(() => ['channel', open] as const),
      fc.constant(undefined).map(() => ['channel', muted] as const),
      fc.constant(undefined).map(() => ['sender', organisation.id('second')] as const),
      fc.constant(undefined).map(() => ['dm', [organisation.id('second')]] as const),
      fc.constant(undefined).map(() => ['dm-including', organisation.id('owner')] as const),
      fc.constant(undefined).map(() => ['id', rows[3]?.id] as const),
    );
    const term = fc
      .tuple(operand, fc.boolean())
      .map(([[name, value], negated]): Term => [name, value, negated]);
    await fc.assert(
      fc.asyncProperty(fc.array(term, { maxLength: 3 }), async (terms) => {
        const hasHistory = terms.some(
          ([operator, , negated]) => !negated && ['channel', 'channels', 'id', 'topic'].includes(operator),
        );
        const expected = rows
          .filter((row) => hasHistory || row.flags !== undefined)
          .filter((row) => terms.every((each) => meets(row, each) !== each[2]));
        expect(await ask(terms)).toEqual(expected.map(({ id }) => id));
      }),
      { numRuns: 150 },
    );
  });

  it('a narrow follows a conversation to a message’s current topic', async () => {
    const [first] = await ask([['channel', open, false]]);
    const there = await ask([
      ['channel', open, false],
      ['topic', 'a', false],
    ]);
    expect(
      await ask([
        ['with', first, false],
        ['channel', muted, false],
        ['topic', 'gone', false],
      ]),
    ).toEqual(there);
  });

  describe('an invalid narrow', () => {
    it.each([
      ['nonsense', 'a', 'unknown operator nonsense'],
      ['is', 'nonsense', 'unknown operand nonsense of is'],
      ['has', 'nonsense', 'unknown operand nonsense of has'],
      ['in', 'nonsense', 'unknown operand nonsense of in'],
      ['channels', 'nonsense', 'unknown operand nonsense of channels'],
      ['channel', 'no such channel', 'unknown channel'],
      ['sender', 'nobody@example.com', 'unknown user in nobody@example.com'],
      ['dm', [999_999], 'unknown user in 999999'],
      ['id', 'x', 'id needs the id of a message'],
      ['with', 999_999, 'unknown message in with'],
      ['topic', 5, 'a topic must be a string'],
    ])('is refused: %s %s', async (operator, operand, desc) => {
      const narrow = [{ operator, operand }];
      const { body } = await organisation.ask('member', 'GET', 'messages', { anchor: 'newest', narrow });
      expect(body).toMatchObject({ code: 'BAD_NARROW', desc });
    });

    it.each([
      [['topic']],
      [{ operator: 'channel' }],
      [{ operator: 'is', operand: 'unread', negated: 'x' }],
      [['channel', 1.5]],
    ])('is refused if a term is malformed: %j', async (term) => {
      const narrow = [['is', 'unread'], term];
      const { body } = await organisation.ask('member', 'GET', 'messages', { anchor: 'newest', narrow });
      expect(body).toMatchObject({
        code: 'BAD_REQUEST',
        msg: 'Invalid narrow[1]: must be an operator and its operand: a string, an integer, or a list of these',
      });
    });

    it('is refused for a channel that the reader cannot read', async () => {
      const narrow = [['channel', hidden]];
      const { body } = await organisation.ask('member', 'GET', 'messages', { anchor: 'newest', narrow });
      expect(body).toMatchObject({ code: 'BAD_NARROW', desc: 'unknown channel' });
    });
  });

  describe('the narrow of a queue', () => {
    it('lets only matching messages through', async () => {
      const narrow = JSON.stringify([
        ['channel', String(open)],
        { operator: 'is', operand: 'mentioned', negated: true },
      ]);
      const told = await organisation.watch('member', { event_types: '["message"]', narrow });
      const to = (channel: number, content: string) =>
        organisation.do('second', 'POST', 'messages', { type: 'channel', to: channel, topic: 'q', content });
      await to(open, 'yes');
      await to(open, '@**all** no');
      await to(muted, 'no');
      expect(await told()).toMatchObject([{ message: { content: 'yes' } }]);
    });

    it('accepts only operators that can be evaluated on a single message', async () => {
      const refused = async (narrow: unknown) =>
        (await organisation.ask('member', 'POST', 'register', { narrow })).body;
      expect(await refused([['search', 'a']])).toMatchObject({
        code: 'BAD_NARROW',
        desc: 'search is not supported for queues',
      });
      expect(await refused([['topic', 'x'.repeat(2000)]])).toMatchObject({
        desc: "a queue's narrow may have at most 2000 characters",
      });
      expect(await refused([['is', 'followed']])).toMatchObject({ desc: 'unknown operand followed of is' });
      expect((await refused('{}')).code).toBe('BAD_REQUEST');
    });
  });
});
