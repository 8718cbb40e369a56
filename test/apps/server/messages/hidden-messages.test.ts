import { describe, expect, it } from 'vitest';
import { eachBackend } from '../../../support/test-databases.js';
import { sharedOrganisation } from '../organisation-under-test.js';
import { addChannel, subscribe } from './chat-under-test.js';
import { post } from './edit/moves-under-test.js';

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  type Who = Parameters<typeof organisation.ask>[0];
  const move = (id: number, fields: Record<string, unknown>) =>
    organisation.do('member', 'PATCH', `messages/${id}`, fields);
  const follow = (who: Who, stream_id: number, topic: string) =>
    organisation.do(who, 'POST', 'user_topics', { stream_id, topic, visibility_policy: 3 });
  const idsIn = async (who: Who, fields: Record<string, unknown>) => {
    const { body } = await organisation.ask(who, 'GET', 'messages', fields);
    return (body.messages as { id: number }[] | undefined)?.map(({ id }) => id);
  };

  describe('a user with a topic policy', () => {
    it('gets no event about a move after leaving the topic’s private channel', async () => {
      const { id: channelId } = await addChannel(organisation, {
        isPrivate: true,
        members: ['member', 'second'],
      });
      const [id = 0] = await post(organisation, { channelId });
      await follow('second', channelId, 'lunch');
      await subscribe(organisation, channelId, organisation.id('second'), false);
      const told = await organisation.watch('second');
      await move(id, { topic: 'secret plan', propagate_mode: 'change_all' });
      expect(await told()).toEqual([]);
      const { user_topics: topics } = await organisation.do('second', 'POST', 'register');
      expect((topics as { stream_id: number }[]).filter(({ stream_id }) => stream_id === channelId)).toEqual(
        [],
      );
    });

    it('gets no hint of a move to a private channel if the user was not in the public channel', async () => {
      const from = await addChannel(organisation, { members: ['member'] });
      const to = await addChannel(organisation, { isPrivate: true, members: ['member'] });
      const [id = 0] = await post(organisation, { channelId: from.id });
      await follow('second', from.id, 'lunch');
      const told = await organisation.watch('second');
      await move(id, { stream_id: to.id, topic: 'secret plan', propagate_mode: 'change_all' });
      const text = JSON.stringify(await told());
      expect(text).not.toContain('secret plan');
      expect(text).not.toContain(`"stream_id":${to.id},`);
      const { user_topics: topics } = await organisation.do('second', 'POST', 'register');
      expect(JSON.stringify(topics)).not.toContain('secret plan');
    });
  });

  it('the sender of a message that moves to a private channel gets no hint of its new location', async () => {
    const from = await addChannel(organisation, { members: ['member', 'second'] });
    const to = await addChannel(organisation, { isPrivate: true, members: ['member'] });
    const [id = 0] = await post(
      ...([organisation, { channelId: from.id, by: 'second' }, { channelId: from.id }] as const),
    );
    const told = await organisation.watch('second');
    await move(id, { stream_id: to.id, topic: 'secret plan' });
    const text = JSON.stringify(await told());
    expect(text).toContain('delete_message');
    expect(text).not.toContain('secret plan');
    expect(text).not.toContain(to.name);
    expect(text).not.toContain(`"stream_id":${to.id},`);
  });

  describe('messages of a private channel', () => {
    it('do not exist for other users in any request', async () => {
      const { id: channelId, name } = await addChannel(organisation, {
        isPrivate: true,
        members: ['member'],
      });
      const [id = 0] = await post(organisation, { channelId, content: 'zebrafish', topic: 'zebra' });
      const noId = 999_999;
      const ways = [
        (message: number) => ['GET', `messages/${message}`, {}],
        (message: number) => ['GET', `messages/${message}/history`, {}],
        (message: number) => ['PATCH', `messages/${message}`, { topic: 'x' }],
        (message: number) => ['DELETE', `messages/${message}`, {}],
        (message: number) => ['POST', 'messages/flags', { messages: [message], op: 'add', flag: 'starred' }],
        (message: number) => [
          ...['GET', 'messages', { anchor: 'newest', num_before: 1, narrow: [['with', message]] }],
        ],
      ] as const;
      for (const who of ['second', 'owner', 'guest', 'bot'] as const) {
        for (const way of ways) {
          const [hidden, unknown] = await Promise.all(
            [id, noId].map((message) => {
              const [method, path, fields] = way(message) as ['GET', string, Record<string, unknown>];
              return organisation.ask(who, method, path, fields);
            }),
          );
          expect([who, hidden?.status, hidden?.body]).toEqual([who, 400, unknown?.body]);
        }
        const around = { anchor: id, num_before: 5, num_after: 5 };
        for (const narrow of [
          [['id', id]],
          [['search', 'zebrafish']],
          [['search', 'zebra']],
          [['topic', 'zebra']],
        ]) {
          expect([who, narrow, await idsIn(who, { ...around, narrow })]).toEqual([who, narrow, []]);
        }
        expect(await idsIn(who, { message_ids: [id, noId] })).toEqual([]);
        expect(
          await idsIn(who, {
            ...around,
            narrow: [
              ['near', id],
              ['-search', 'nothing'],
            ],
          }).then((all) => all ?? []),
        ).not.toContain(id);
        const read = { op: 'add', flag: 'read' };
        await organisation.do(who, 'POST', 'messages/flags', { messages: [id], ...read });
      }
      for (const who of ['second', 'guest', 'bot'] as const) {
        for (const [one, other] of [
          [{ narrow: [['channel', channelId]] }, { narrow: [['channel', noId]] }],
          [{ narrow: [['channel', name]] }, { narrow: [['channel', 'no such channel']] }],
        ]) {
          const window = { anchor: 'newest', num_before: 1 };
          const hidden = await organisation.ask(who, 'GET', 'messages', { ...window, ...one });
          const unknown = await organisation.ask(who, 'GET', 'messages', { ...window, ...other });
          expect([hidden.status, hidden.body]).toEqual([400, unknown.body]);
        }
        for (const path of ['users/me/ID/topics', 'streams/ID', 'streams/ID/members']) {
          const hidden = await organisation.ask(who, 'GET', path.replace('ID', String(channelId)));
          const unknown = await organisation.ask(who, 'GET', path.replace('ID', String(noId)));
          expect([hidden.status, hidden.body]).toEqual([400, unknown.body]);
        }
        const wish = { topic: 'zebra', visibility_policy: 3 };
        const hidden = await organisation.ask(who, 'POST', 'user_topics', { ...wish, stream_id: channelId });
        const unknown = await organisation.ask(who, 'POST', 'user_topics', { ...wish, stream_id: noId });
        expect([hidden.status, hidden.body]).toEqual([400, unknown.body]);
      }
    });

    it('are not unread, starred or newest for a user who has left the channel', async () => {
      const { id: channelId } = await addChannel(organisation, {
        isPrivate: true,
        members: ['member', 'second'],
      });
      const [id = 0, starred = 0] = await post(organisation, { channelId }, { channelId });
      await organisation.do('second', 'POST', 'messages/flags', {
        messages: [starred],
        op: 'add',
        flag: 'starred',
      });
      await subscribe(organisation, channelId, organisation.id('second'), false);
      const state = await organisation.do('second', 'POST', 'register');
      expect(state.starred_messages).not.toContain(starred);
      expect(JSON.stringify(state.unread_msgs)).not.toMatch(new RegExp(`\\b(${id}|${starred})\\b`));
      expect(state.max_message_id).not.toBe(starred);
    });

    it('cannot be edited, deleted or read by a sender who has left the channel', async () => {
      const { id: channelId } = await addChannel(organisation, {
        isPrivate: true,
        members: ['member', 'second'],
      });
      const [id = 0] = await post(organisation, { channelId, by: 'second' });
      await subscribe(organisation, channelId, organisation.id('second'), false);
      const asked = await Promise.all([
        organisation.ask('second', 'PATCH', `messages/${id}`, { content: 'x' }),
        organisation.ask('second', 'DELETE', `messages/${id}`),
        organisation.ask('second', 'GET', `messages/${id}/history`),
      ]);
      expect(asked.map(({ body }) => body.msg)).toEqual(Array(3).fill('Invalid message(s)'));
    });

    it('are not published to other users’ queues, even those that follow all public channels', async () => {
      const from = await addChannel(organisation, { members: ['member'] });
      const { id: channelId } = await addChannel(organisation, { isPrivate: true, members: ['member'] });
      const all = { all_public_streams: 'true' };
      const [second, owner] = [
        await organisation.watch('second', all),
        await organisation.watch('owner', all),
      ];
      const text = `@**Somebody|${organisation.id('second')}** @**all** pelican`;
      const wish = { type: 'channel', to: channelId, topic: 'pelican', content: text };
      const { id } = await organisation.do('member', 'POST', 'messages', wish);
      await move(Number(id), { content: `${text} pelican`, topic: 'pelicans' });
      const [other = 0] = await post(organisation, { channelId: from.id });
      await second();
      const later = await organisation.watch('second', all);
      await move(other, { stream_id: channelId, topic: 'pelican' });
      await move(other, { content: 'pelican' });
      await organisation.do('member', 'DELETE', `messages/${id}`);
      for (const events of [await second(), await later(), await owner()])
        expect(JSON.stringify(events)).not.toContain('pelican');
    });
  });

  describe('earlier messages in a channel with protected history', () => {
    it('do not exist for a user who joined later', async () => {
      const { id: channelId } = await addChannel(organisation, { isPrivate: true, members: ['member'] });
      const [before = 0] = await post(organisation, { channelId, content: 'zebrafish', topic: 'zebra' });
      await subscribe(organisation, channelId, organisation.id('second'));
      const [after = 0] = await post(organisation, { channelId, content: 'other' });
      for (const fields of [{ topic: 'x' }, { content: 'x' }, { topic: 'x', propagate_mode: 'change_all' }])
        expect((await organisation.ask('second', 'PATCH', `messages/${before}`, fields)).body.msg).toBe(
          'Invalid message(s)',
        );
      const star = { messages: [before], op: 'add', flag: 'starred' };
      expect((await organisation.ask('second', 'POST', 'messages/flags', star)).status).toBe(400);
      for (const op of ['add', 'remove'])
        await organisation.do('second', 'POST', 'messages/flags', { messages: [before], op, flag: 'read' });
      const window = { anchor: 'newest', num_before: 9, op: 'add', flag: 'starred' };
      const narrow = [['channel', channelId]];
      await organisation.do('second', 'POST', 'messages/flags/narrow', { ...window, num_after: 0, narrow });
      expect(await idsIn('second', { anchor: 'newest', num_before: 9, narrow })).toEqual([after]);
      expect(
        await idsIn('second', { anchor: 'newest', num_before: 9, narrow: [['search', 'zebrafish']] }),
      ).toEqual([]);
      expect((await organisation.ask('second', 'GET', `messages/${before}/history`)).status).toBe(400);
      const { topics } = await organisation.do('second', 'GET', `users/me/${channelId}/topics`);
      expect(topics).toEqual([{ name: 'lunch', max_id: after }]);
    });
  });
});
