import { createRequire } from 'node:module';
import { describe, expect, it, vi } from 'vitest';
import type { ServerTransaction } from '#server/tables.js';
import { eachBackend } from '../../../../support/test-databases.js';
import { sharedOrganisation } from '../../organisation-under-test.js';
import { addChannel, subscribe } from '../chat-under-test.js';
import { sendingUnderTest } from './sending-under-test.js';

// The renderer's copy of the highlighter, which is the slowest part of rendering.
const ofRenderer = createRequire(new URL('../../../../../packages/markdown/package.json', import.meta.url));
const highlighter = ofRenderer('highlight.js/lib/core') as { highlight(): unknown };

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  const { send, sent, stored, setPermission } = sendingUnderTest(organisation);

  describe('a message to a channel', () => {
    it('can be sent to the channel’s id or name, plain or as JSON', async () => {
      const { id, name } = await addChannel(organisation, { members: ['member'] });
      for (const to of [String(id), name, JSON.stringify(name), JSON.stringify([name]), name.toUpperCase()]) {
        const message = await sent('member', { type: 'channel', to, topic: 'a', content: to });
        expect(await stored(message)).toMatchObject({ channel_id: id, content: to, topic: 'a' });
      }
      const message = await sent('member', { type: 'stream', to: id, subject: 'b', content: 'old names' });
      expect((await stored(message)).topic).toBe('b');
    });

    it('requires a channel that the sender can see and post to', async () => {
      const hidden = await addChannel(organisation, { isPrivate: true, members: ['owner'] });
      const archived = await addChannel(organisation, { isArchived: true, members: ['member'] });
      const open = await addChannel(organisation, { members: ['member'] });
      const reading = await addChannel(organisation, { members: ['member'] });
      await setPermission(
        'channel',
        reading.id,
        'can_send_message_group',
        await organisation.roleGroup('nobody'),
      );
      const to = (channel: unknown) => ({ type: 'channel', to: channel, topic: 'a', content: 'a' });
      const byId = await send('member', to(hidden.id));
      expect(byId.body).toMatchObject({ code: 'STREAM_DOES_NOT_EXIST', stream_id: hidden.id });
      const byName = await send('member', to('nothing'));
      expect(byName.body).toMatchObject({ code: 'STREAM_DOES_NOT_EXIST', stream: 'nothing' });
      const refusals = [
        (await send('member', to(archived.id))).body.msg,
        (await send('guest', to(open.id))).body.code,
        (await send('administrator', to(hidden.id))).body.msg,
        (await send('member', to(reading.id))).body.msg,
        (await send('member', to({ id: 1 }))).body.msg,
      ];
      expect(refusals).toEqual([
        `Not authorized to send to channel '${archived.name}'`,
        'STREAM_DOES_NOT_EXIST',
        `Not authorized to send to channel '${hidden.name}'`,
        'You do not have permission to post in this channel.',
        'Invalid data type for channel',
      ]);
    });

    it('is not rendered before the server has checked that it is allowed', async () => {
      const { id } = await addChannel(organisation, { isPrivate: true, members: ['owner'] });
      const content = `\`\`\`js\n${'const a = 1;\n'.repeat(100)}\`\`\``;
      const rendering = vi.spyOn(highlighter, 'highlight');
      try {
        const toChannel = { type: 'channel', to: id, topic: 'a', content };
        expect((await send('member', toChannel)).body.code).toBe('STREAM_DOES_NOT_EXIST');
        expect((await send('member', { type: 'direct', to: [999_999], content })).status).toBe(400);
        expect(rendering).not.toHaveBeenCalled();
        expect((await send('owner', toChannel)).status).toBe(200);
        expect(rendering).toHaveBeenCalled();
      } finally {
        rendering.mockRestore();
      }
    });

    it('can be sent by a bot if its owner can send', async () => {
      const { id } = await addChannel(organisation, { members: ['bot', 'member'] });
      const { groups } = { groups: await organisation.groups() };
      await setPermission('channel', id, 'can_send_message_group', groups['role:owners']?.id ?? 0);
      const wish = { type: 'channel', to: id, topic: 'a', content: 'a' };
      expect((await send('bot', wish)).status).toBe(400);
      await organisation.server.server.database.write(({ db }: ServerTransaction) =>
        db
          .updateTable('users')
          .set({ bot_owner_id: organisation.id('owner') })
          .where('id', '=', organisation.id('bot'))
          .execute(),
      );
      expect((await send('bot', wish)).status).toBe(200);
    });

    it('has the requested topic, truncated to 60 characters, or the empty topic', async () => {
      const { id } = await addChannel(organisation, { members: ['member'] });
      const topicOf = async (topic: string) =>
        (await stored(await sent('member', { type: 'channel', to: id, topic, content: 'a' }))).topic;
      expect(await topicOf(' padded ')).toBe('padded');
      expect(await topicOf('(no topic)')).toBe('');
      expect(await topicOf('general chat')).toBe('');
      expect(await topicOf('ü'.repeat(61))).toBe(`${'ü'.repeat(57)}...`);
      const refused = async (topic?: string) =>
        (
          await send('member', {
            type: 'channel',
            to: id,
            content: 'a',
            ...(topic === undefined ? {} : { topic }),
          })
        ).body.msg;
      expect(await refused()).toBe('Missing topic');
      expect(await refused('a\u0007b')).toBe('Invalid character in topic, at position 2!');
      expect(await refused('✔')).toBe('General chat cannot be marked as resolved');
    });

    it('follows the channel’s topic policy', async () => {
      const named = await addChannel(organisation, {
        topicsPolicy: 'disable_empty_topic',
        members: ['member'],
      });
      const nameless = await addChannel(organisation, {
        topicsPolicy: 'empty_topic_only',
        members: ['member'],
      });
      const wish = (to: number, topic: string) => ({ type: 'channel', to, topic, content: 'a' });
      expect((await send('member', wish(named.id, ''))).body).toMatchObject({
        msg: 'Sending messages to "general chat" is not allowed in this channel.',
        empty_topic_display_name: 'general chat',
      });
      expect((await send('member', wish(nameless.id, 'a'))).body.msg).toBe(
        'Only the "general chat" topic is allowed in this channel.',
      );
      expect((await send('member', wish(named.id, 'a'))).status).toBe(200);
      expect((await send('member', wish(nameless.id, ''))).status).toBe(200);
    });

    it('requires permission to start a topic', async () => {
      const { id } = await addChannel(organisation, { members: ['member'] });
      await sent('member', { type: 'channel', to: id, topic: 'there', content: 'a' });
      await setPermission('channel', id, 'can_create_topic_group', await organisation.roleGroup('nobody'));
      expect((await send('member', { type: 'channel', to: id, topic: 'THERE', content: 'a' })).status).toBe(
        200,
      );
      expect((await send('member', { type: 'channel', to: id, topic: 'new', content: 'a' })).body.msg).toBe(
        'You do not have permission to create new topics in this channel.',
      );
    });

    it('can mention all users of a large channel or topic only if the sender may mention many users', async () => {
      const { id } = await addChannel(organisation, { members: ['member', 'owner'] });
      const wish = (content: string) => ({ type: 'channel', to: id, topic: 'a', content });
      expect((await send('member', wish('@**all** and @**topic**'))).status).toBe(200);
      const more = await Promise.all(
        Array.from({ length: 14 }, (_, index) =>
          organisation.server.addAccount(`many${index}.${backend.name}@example.com`),
        ),
      );
      for (const { userId } of more) await subscribe(organisation, id, userId);
      expect((await send('member', wish('@**all**'))).body.code).toBe('STREAM_WILDCARD_MENTION_NOT_ALLOWED');
      expect((await send('member', wish('@**topic**'))).status).toBe(200);
      await organisation.server.server.database.write(({ db }: ServerTransaction) =>
        db
          .insertInto('messages')
          .values(
            [...more.map(({ userId }) => userId), organisation.id('owner')].map((sender_id) => ({
              sender_id,
              channel_id: id,
              conversation_id: null,
              topic: 'a',
              topic_lower: 'a',
              content: 'a',
              rendered_content: 'a',
              sent_at: 0,
              client: 'test',
              last_edited_at: null,
              last_moved_at: null,
              has_link: 0,
              has_image: 0,
              has_attachment: 0,
            })),
          )
          .execute(),
      );
      expect((await send('member', wish('@**topic**'))).body.code).toBe('TOPIC_WILDCARD_MENTION_NOT_ALLOWED');
      expect((await send('member', wish('`@**all**` @_**all**'))).status).toBe(200);
      expect((await send('owner', wish('@**all** @**topic**'))).status).toBe(200);
    });

    it('can mention groups only with permission', async () => {
      const { id } = await addChannel(organisation, { members: ['member', 'owner'] });
      const name = organisation.newName();
      const group = await organisation.do('owner', 'POST', 'user_groups/create', {
        name,
        description: '',
        members: [organisation.id('owner')],
      });
      const wish = { type: 'channel', to: id, topic: 'a', content: `@*${name}*` };
      const told = await organisation.watch('owner', { event_types: '["message"]' });
      expect((await send('member', wish)).status).toBe(200);
      expect(await told()).toMatchObject([{ flags: ['mentioned', 'group_mentioned'] }]);
      await setPermission(
        'group',
        Number(group.group_id),
        'can_mention_group',
        await organisation.roleGroup('nobody'),
      );
      expect((await send('member', wish)).body.msg).toBe(
        `You are not allowed to mention user group '${name}'.`,
      );
      expect((await send('member', { ...wish, content: `@_*${name}*` })).status).toBe(200);
    });

    it('makes its sender follow a new topic, and mentioned users follow the topic', async () => {
      const { id } = await addChannel(organisation, { members: ['member', 'second'] });
      const told = await organisation.watch('second', { event_types: '["user_topic"]' });
      const content = `@**Somebody|${organisation.id('second')}**`;
      const wish = { type: 'channel', to: id, topic: 'New', content };
      expect((await send('member', wish)).body.automatic_new_visibility_policy).toBe(3);
      expect((await send('member', wish)).body).not.toHaveProperty('automatic_new_visibility_policy');
      expect(await told()).toEqual([
        expect.objectContaining({ stream_id: id, topic_name: 'New', visibility_policy: 3 }),
      ]);
    });
  });

  describe('the content', () => {
    it('is trimmed and truncated, and must not be empty', async () => {
      const contentOf = async (content: string) =>
        (await stored(await sent('member', { type: 'direct', to: [organisation.id('member')], content })))
          .content;
      expect(await contentOf('\n\n  a \n ')).toBe('  a');
      const long = await contentOf('é'.repeat(10_001));
      expect([...long].length).toBe(10_000);
      expect(long.endsWith('é\n[message truncated]')).toBe(true);
      const refused = async (content: string) =>
        (await send('member', { type: 'direct', to: [organisation.id('member')], content })).body.msg;
      expect(await refused(' \n ')).toBe('Message must not be empty');
    });
  });

  describe('the sender', () => {
    it('gets the client’s local message id, only in the queue of the request', async () => {
      const { queue_id: queueId } = await organisation.do('member', 'POST', 'register', {
        event_types: ['message'],
      });
      const other = await organisation.watch('member', { event_types: '["message"]' });
      await sent('member', {
        type: 'direct',
        to: [organisation.id('member')],
        content: 'a',
        queue_id: queueId,
        local_id: '12.01',
        read_by_sender: true,
      });
      const { events } = await organisation.do('member', 'GET', 'events', {
        queue_id: queueId,
        last_event_id: -1,
        dont_block: true,
      });
      expect(events).toMatchObject([{ local_message_id: '12.01', flags: ['read'] }]);
      expect((await other())[0]).not.toHaveProperty('local_message_id');
    });
  });

  it('a message reaches queues that follow all public channels, which guests cannot have', async () => {
    const { id } = await addChannel(organisation, { members: ['member'] });
    const hidden = await addChannel(organisation, { isPrivate: true, members: ['member'] });
    const told = await organisation.watch('moderator', {
      event_types: '["message"]',
      all_public_streams: 'true',
    });
    await sent('member', { type: 'channel', to: id, topic: 'a', content: 'public' });
    await sent('member', { type: 'channel', to: hidden.id, topic: 'a', content: 'private' });
    expect(await told()).toMatchObject([{ flags: ['read', 'historical'], message: { content: 'public' } }]);
    const refused = await organisation.ask('guest', 'POST', 'register', { all_public_streams: true });
    expect(refused.body.msg).toBe('User not authorized for this query');
  });

  it('a queue that follows all public channels gets only its user’s channels once the user is a guest', async () => {
    const { id: other } = await addChannel(organisation, { members: ['member'] });
    const { id: own } = await addChannel(organisation, { members: ['member'] });
    const { server } = organisation;
    const eve = await server.addAccount('follows-all@example.com');
    await subscribe(organisation, own, eve.userId);
    const read = await server.openQueue(eve, { event_types: '["message"]', all_public_streams: 'true' });
    const told = async () =>
      ((await read()) as { message: { content: string } }[]).map(({ message }) => message.content);
    const setRole = (role: number) => organisation.do('owner', 'PATCH', `users/${eve.userId}`, { role });
    const say = (to: number, content: string) => sent('member', { type: 'channel', to, topic: 'a', content });
    await say(other, 'as a member');
    await setRole(600);
    await say(other, 'as a guest');
    await say(own, 'in the own channel');
    await setRole(400);
    await say(other, 'as a member again');
    expect(await told()).toEqual(['as a member', 'in the own channel', 'as a member again']);
  });
});
