import type { ChannelId } from '@waxwing/protocol';
import { describe, expect, it } from 'vitest';
import { KnownLinkifiers } from '#server/content/linkifiers/known-linkifiers.js';
import { type ChannelAccess, readChannelAccess } from '#server/conversations/channels/channel-access.js';
import { findChannels } from '#server/conversations/channels/channel-store.js';
import { type NewMessage, sendMessages } from '#server/conversations/messages/insert-messages.js';
import { findReadableMessages, readsMessage } from '#server/conversations/messages/message-access.js';
import type { Message } from '#server/conversations/messages/message-store.js';
import { renderContents } from '#server/conversations/messages/render-content.js';
import { roles } from '#server/platform/authentication/roles.js';
import { createPublisher } from '#server/platform/event-queues/publish-events.js';
import type { ServerTransaction } from '#server/tables.js';
import { eachBackend } from '../../../support/test-databases.js';
import { sharedOrganisation } from '../organisation-under-test.js';
import { addChannel, subscribe } from './chat-under-test.js';

const realm = {
  uuid: 'e1a3ad8e-6aa0-4b4f-8b6e-5f4bf3d0f8f8',
  url: 'https://chat.example.com',
  name: 'Example',
};

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);

  type Draft = Omit<NewMessage, 'rendered' | 'client' | 'senderId'>;
  async function send(...drafts: Draft[]): Promise<Message[]> {
    const { server } = organisation.server;
    const clock = () => organisation.server.now;
    const publish = createPublisher({ notify: async () => undefined }, clock);
    const author = { id: organisation.id('member'), role: roles.member };
    return server.database.write(async (transaction: ServerTransaction) => {
      const rendered = await renderContents(
        transaction.db,
        { realm, linkifiers: new KnownLinkifiers(server.database.signals, clock) },
        author,
        drafts.map(({ content }) => content),
      );
      const messages = drafts.map((draft, index) => ({
        ...draft,
        senderId: author.id,
        client: 'test',
        rendered: rendered[index] as NewMessage['rendered'],
      }));
      return (await sendMessages(transaction, { clock, publish, realm }, messages)).map(
        ({ message }) => message,
      );
    });
  }

  const readable = async (who: 'member' | 'second' | 'guest' | 'owner', { id, channelId }: Message) => {
    const reader = { id: organisation.id(who), role: who === 'second' ? roles.member : roles[who] };
    const { db } = organisation.server.server.database;
    const found = (await findReadableMessages(db, reader, [id])).length === 1;
    if (channelId === undefined) return found;
    const [access] = (await readChannelAccess(db, reader, await findChannels(db, [channelId]))).values();
    const copies = await db
      .selectFrom('user_messages')
      .select('flags')
      .where('user_id', '=', reader.id)
      .where('message_id', '=', id)
      .execute();
    // The SQL statement and the rule must agree.
    expect(
      readsMessage({ kind: 'channel', access: access as ChannelAccess, hasCopy: copies.length > 0 }),
    ).toBe(found);
    return found;
  };

  describe('a message to a channel', () => {
    it('reaches only its subscribers, in the format that their clients request', async () => {
      const { id } = await addChannel(organisation, { members: ['member', 'second'] });
      const asSource = await organisation.watch('member', { event_types: '["message"]' });
      const asHtml = await organisation.watch('second', {
        event_types: '["message"]',
        apply_markdown: 'true',
        client_capabilities: '{"notification_settings_null":true,"empty_topic_name":true}',
      });
      const ofStranger = await organisation.watch('owner', { event_types: '["message"]' });
      const [message] = await send({
        destination: { kind: 'channel', channelId: id, topic: '' },
        content: `hello *you* @**Somebody|${organisation.id('second')}**`,
        readBy: [organisation.id('member')],
      });
      expect(await asSource()).toEqual([
        expect.objectContaining({
          type: 'message',
          flags: ['read'],
          message: expect.objectContaining({
            id: message?.id,
            subject: 'general chat',
            content: `hello *you* @**Somebody|${organisation.id('second')}**`,
            content_type: 'text/x-markdown',
            type: 'stream',
            stream_id: id,
          }),
        }),
      ]);
      expect(await asHtml()).toEqual([
        expect.objectContaining({
          flags: ['mentioned'],
          message: expect.objectContaining({
            subject: '',
            content: expect.stringContaining('<em>you</em>'),
            content_type: 'text/html',
          }),
        }),
      ]);
      expect(await ofStranger()).toEqual([]);
    });

    it('can be read by all readers of the channel, or only by users with a copy if history is protected', async () => {
      const open = await addChannel(organisation, { members: ['member'] });
      const shared = await addChannel(organisation, {
        isPrivate: true,
        isHistoryPublic: true,
        members: ['member'],
      });
      const guarded = await addChannel(organisation, { isPrivate: true, members: ['member'] });
      const to = (channelId: ChannelId) => ({
        destination: { kind: 'channel' as const, channelId, topic: 'a' },
        content: 'a',
      });
      const [inOpen, inShared, inGuarded] = (await send(to(open.id), to(shared.id), to(guarded.id))) as [
        Message,
        Message,
        Message,
      ];
      for (const message of [inOpen, inShared, inGuarded])
        expect(await readable('member', message)).toBe(true);
      expect([
        await readable('second', inOpen),
        await readable('second', inShared),
        await readable('second', inGuarded),
        await readable('guest', inOpen),
        await readable('owner', inShared),
      ]).toEqual([true, false, false, false, false]);
      await subscribe(organisation, shared.id, organisation.id('second'));
      await subscribe(organisation, guarded.id, organisation.id('second'));
      expect([await readable('second', inShared), await readable('second', inGuarded)]).toEqual([
        true,
        false,
      ]);
      await subscribe(organisation, guarded.id, organisation.id('member'), false);
      expect(await readable('member', inGuarded)).toBe(false);
    });
  });

  describe('messages that are sent together', () => {
    it('keep their order across destinations', async () => {
      const { id } = await addChannel(organisation, { members: ['member'] });
      const people = {
        kind: 'direct' as const,
        userIds: [organisation.id('second'), organisation.id('member')],
      };
      const sent = await send(
        { destination: people, content: 'one' },
        { destination: { kind: 'channel', channelId: id, topic: 'Über' }, content: 'two' },
        { destination: people, content: 'three' },
      );
      expect(sent.map(({ content }) => content)).toEqual(['one', 'two', 'three']);
      expect(sent[0]?.conversationId).toBe(sent[2]?.conversationId);
      expect(await readable('second', sent[0] as Message)).toBe(true);
      expect(await readable('owner', sent[0] as Message)).toBe(false);
    });
  });
});
