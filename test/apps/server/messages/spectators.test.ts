import type { ChannelId, MessageId } from '@waxwing/protocol';
import { beforeAll, describe, expect, it } from 'vitest';
import { eachBackend } from '../../../support/test-databases.js';
import { sharedOrganisation } from '../organisation-under-test.js';
import { addChannel } from './chat-under-test.js';
import { post } from './edit/moves-under-test.js';

const onWeb = { operator: 'channels', operand: 'web-public' };

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend, { offersWebPublicChannels: true });
  let channels: Record<'onWeb' | 'archived' | 'open' | 'shut', ChannelId>;
  let ids: Record<'onWeb' | 'archived' | 'open' | 'shut' | 'direct', MessageId>;

  const allow = (isAllowed: boolean) =>
    organisation.do('owner', 'PATCH', 'realm', { enable_spectator_access: isAllowed });

  beforeAll(async () => {
    const members = ['member', 'second'] as const;
    const add = async (wish: object) => (await addChannel(organisation, { members, ...wish })).id;
    channels = {
      onWeb: await add({ isWebPublic: true, name: 'on the web' }),
      archived: await add({ isWebPublic: true, isArchived: true }),
      open: await add({}),
      shut: await add({ isPrivate: true, isHistoryPublic: true }),
    };
    const [direct] = await post(organisation, { to: ['member', 'second'], content: 'hello secret' });
    const sent = { direct } as typeof ids;
    for (const [name, channelId] of Object.entries(channels) as [keyof typeof channels, ChannelId][]) {
      const content = name === 'onWeb' ? 'hello public' : 'hello secret';
      [sent[name]] = (await post(organisation, { channelId, content })) as [MessageId];
    }
    ids = sent;
    await allow(true);
  });

  const ask = (path: string, fields: Record<string, unknown> = {}) =>
    organisation.server.ask(
      undefined,
      'GET',
      path,
      Object.fromEntries(
        Object.entries(fields).map(([name, value]) => [
          name,
          typeof value === 'string' ? value : JSON.stringify(value),
        ]),
      ),
    );

  const window = { anchor: 'newest', num_before: 1000, num_after: 0 };
  const idsOf = (body: Record<string, unknown>) => (body.messages as { id: number }[]).map(({ id }) => id);

  describe('a client without an account', () => {
    it.each([
      ['all', []],
      ['one channel', [{ operator: 'channel', operand: 'on the web' }]],
      ['a topic', [{ operator: 'topic', operand: 'lunch' }]],
      ['words', [{ operator: 'search', operand: 'hello' }]],
      ['links', [{ operator: 'has', operand: 'link', negated: true }]],
      ['public or not', [{ operator: 'channels', operand: 'public' }]],
    ])('reads only web-public messages when it requests %s', async (_, more) => {
      const { status, body } = await ask('messages', { ...window, narrow: [onWeb, ...more] });
      expect([status, idsOf(body)]).toEqual([200, [ids.onWeb]]);
    });

    it('reads a message with its author and without user-specific fields', async () => {
      const edited = { content: 'hello public' };
      await organisation.do('member', 'PATCH', `messages/${ids.onWeb}`, { content: 'hello secret' });
      await organisation.do('member', 'PATCH', `messages/${ids.onWeb}`, edited);
      const { body } = await ask('messages', { ...window, narrow: [onWeb] });
      const [message] = body.messages as [Record<string, unknown>];
      expect(message).toMatchObject({
        content: '<p>hello public</p>',
        flags: ['read'],
        sender_id: organisation.id('member'),
        sender_email: `user${organisation.id('member')}@chat.example.com`,
        avatar_url: expect.stringMatching(/^https:/),
      });
      expect(message).not.toHaveProperty('edit_history');
      expect(JSON.stringify(body)).not.toMatch(/secret|delivery_email|member@example/);
      const { body: one } = await ask(`messages/${ids.onWeb}`);
      const { match_content: _, ...alike } = message;
      expect(one).toMatchObject({ message: alike, raw_content: 'hello public' });
      expect(one.message).not.toHaveProperty('edit_history');
    });

    it('cannot read other messages by id, whether it requests few or many', async () => {
      const all = Object.values(ids);
      for (const wanted of [all, [...all, ...Array.from({ length: 300 }, (_, index) => 10_000 + index)]]) {
        const { status, body } = await ask('messages', { message_ids: wanted, narrow: [onWeb] });
        expect([status, idsOf(body)]).toEqual([200, [ids.onWeb]]);
      }
      const answers = await Promise.all(all.map((id) => ask(`messages/${id}`)));
      expect(answers.map(({ status, body }) => [status, body.code])).toEqual(
        all.map((id) => (id === ids.onWeb ? [200, undefined] : [401, 'UNAUTHORIZED'])),
      );
    });

    it('cannot discover hidden channels, messages and addresses', async () => {
      for (const term of [
        ...[channels.open, channels.shut].map((operand) => ({ operator: 'channel', operand })),
        ...[ids.open, ids.shut, ids.direct].map((operand) => ({ operator: 'with', operand })),
        { operator: 'sender', operand: 'member@example.com' },
      ]) {
        const { body } = await ask('messages', { ...window, narrow: [onWeb, term] });
        expect([term, body.code]).toEqual([term, 'BAD_NARROW']);
      }
      for (const term of [
        ...Object.values(ids).map((operand) => ({ operator: 'id', operand })),
        { operator: 'channel', operand: channels.archived },
        { operator: 'with', operand: ids.archived },
      ]) {
        const { body } = await ask('messages', { ...window, narrow: [onWeb, term] });
        expect(idsOf(body).filter((id) => id !== ids.onWeb)).toEqual([]);
      }
    });

    it.each([
      ['without a narrow', undefined],
      ['of everything', []],
      ['of what is not public', [{ ...onWeb, negated: true }]],
      ['of all public channels', [{ operator: 'channels', operand: 'public' }]],
      ['of its own', [onWeb, { operator: 'is', operand: 'unread' }]],
      ['of direct messages', [onWeb, { operator: 'dm', operand: [1] }]],
      ['of what is not muted', [onWeb, { operator: 'in', operand: 'home' }]],
    ])('cannot request messages %s', async (_, narrow) => {
      const { status, body } = await ask('messages', { ...window, ...(narrow && { narrow }) });
      expect([status, body.code]).toEqual([401, 'UNAUTHORIZED']);
    });

    it('cannot read anything if the organization does not allow public access', async () => {
      await allow(false);
      const answers = [
        await ask('messages', { ...window, narrow: [onWeb] }),
        await ask(`messages/${ids.onWeb}`),
      ];
      await allow(true);
      expect(answers.map(({ status }) => status)).toEqual([401, 401]);
    });
  });
});
