import type { ChannelId } from '@waxwing/protocol';
import { beforeAll, describe, expect, it } from 'vitest';
import { messageFlags } from '#server/conversations/messages/message-flags.js';
import { channelId } from '../../../support/ids.js';
import { eachBackend } from '../../../support/test-databases.js';
import { sharedOrganisation } from '../organisation-under-test.js';
import { addChannel, subscribe } from './chat-under-test.js';

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  type Who = Parameters<typeof organisation.ask>[0];
  let channel: ChannelId;
  const send = async (who: Who, parameters: Record<string, unknown>) =>
    Number((await organisation.do(who, 'POST', 'messages', parameters)).id);
  const sendTo = (channelId: number, topic = 'a', content = 'a') =>
    send('member', { type: 'channel', to: channelId, topic, content });
  const change = (who: Who, parameters: Record<string, unknown>) =>
    organisation.ask(who, 'POST', 'messages/flags', parameters);
  const flagsOf = async (who: Who, id: number) => {
    const body = await organisation.do(who, 'GET', `messages/${id}`);
    return (body.message as { flags: string[] }).flags;
  };

  beforeAll(async () => {
    channel = (await addChannel(organisation, { members: ['member', 'second'] })).id;
  });

  describe('a flag', () => {
    it('can be added and removed, and the user’s clients get events', async () => {
      const ids = [await sendTo(channel), await sendTo(channel)];
      const told = await organisation.watch('second', { event_types: '["update_message_flags"]' });
      const ofOthers = await organisation.watch('member', { event_types: '["update_message_flags"]' });
      const wish = { messages: [...ids].reverse(), flag: 'read' };
      const added = await change('second', { ...wish, op: 'add' });
      expect(added.body).toMatchObject({
        messages: wish.messages,
        ignored_because_not_subscribed_channels: [],
      });
      expect(await flagsOf('second', Number(ids[0]))).toEqual(['read']);
      await change('second', { ...wish, op: 'add' });
      await change('second', { ...wish, op: 'remove', messages: [ids[0]] });
      const event = { type: 'update_message_flags', flag: 'read', all: false };
      expect(await told()).toEqual([
        { ...event, op: 'add', operation: 'add', messages: ids },
        {
          ...event,
          op: 'remove',
          operation: 'remove',
          messages: [ids[0]],
          message_details: {
            [String(ids[0])]: { type: 'stream', stream_id: channel, topic: 'a', unmuted_stream_msg: true },
          },
        },
      ]);
      expect(await ofOthers()).toEqual([]);
    });

    it('hides link previews only for the user, and keeps other flags', async () => {
      const id = await sendTo(channel, 'a', 'https://example.com');
      const told = await organisation.watch('second', { event_types: '["update_message_flags"]' });
      const wish = { messages: [id], flag: 'hide_link_previews' };
      expect((await change('second', { ...wish, op: 'add' })).status).toBe(200);
      expect(await flagsOf('second', id)).toEqual(['hide_link_previews']);
      expect(await flagsOf('member', id)).not.toContain('hide_link_previews');
      await change('second', { messages: [id], flag: 'read', op: 'add' });
      await change('second', { ...wish, op: 'remove' });
      expect(await flagsOf('second', id)).toEqual(['read']);
      const event = { type: 'update_message_flags', all: false, messages: [id] };
      expect(await told()).toEqual([
        { ...event, flag: 'hide_link_previews', op: 'add', operation: 'add' },
        { ...event, flag: 'read', op: 'add', operation: 'add' },
        { ...event, flag: 'hide_link_previews', op: 'remove', operation: 'remove' },
      ]);
    });

    it('creates a copy of the message if the user has none', async () => {
      const id = await sendTo(channel);
      expect(await flagsOf('moderator', id)).toEqual(['read', 'historical']);
      await change('moderator', { messages: [id], op: 'add', flag: 'starred' });
      expect(await flagsOf('moderator', id)).toEqual(['read', 'starred', 'historical']);
    });

    it('cannot be changed on an unreadable message, or if it is not editable', async () => {
      const hidden = await addChannel(organisation, { isPrivate: true, members: ['member'] });
      const id = await sendTo(hidden.id);
      const starring = await change('second', { messages: [id], op: 'add', flag: 'starred' });
      expect(starring.body).toMatchObject({ code: 'BAD_REQUEST', msg: 'Invalid message(s)' });
      expect((await change('second', { messages: [id, 999_999], op: 'add', flag: 'read' })).status).toBe(200);
      const refused = async (flag: string) =>
        (await change('second', { messages: [], op: 'add', flag })).body.msg;
      expect(await refused('mentioned')).toBe("Flag not editable: 'mentioned'");
      expect(await refused('nonsense')).toBe("Invalid message flag: 'nonsense'");
    });

    it('cannot mark messages as unread in channels that the user is not subscribed to', async () => {
      const id = await sendTo(channel);
      const { body } = await change('moderator', { messages: [id], op: 'remove', flag: 'read' });
      expect(body.ignored_because_not_subscribed_channels).toEqual([channel]);
      expect(await flagsOf('moderator', id)).toEqual(['read', 'historical']);
      await subscribe(organisation, channel, organisation.id('moderator'));
      await change('moderator', { messages: [id], op: 'remove', flag: 'read' });
      expect(await flagsOf('moderator', id)).toEqual(['historical']);
    });

    it('can be changed on all messages of a narrow', async () => {
      const { id: own } = await addChannel(organisation, { members: ['member', 'second'] });
      const ids = [await sendTo(own, 'one'), await sendTo(own, 'two'), await sendTo(own, 'ONE')];
      const wish = {
        anchor: 'oldest',
        num_after: 10,
        narrow: [
          ['channel', own],
          ['topic', 'one'],
        ],
        flag: 'read',
      };
      const body = await organisation.do('second', 'POST', 'messages/flags/narrow', { ...wish, op: 'add' });
      expect(body).toMatchObject({
        processed_count: 2,
        updated_count: 2,
        first_processed_id: ids[0],
        last_processed_id: ids[2],
        found_oldest: true,
        found_newest: true,
        ignored_because_not_subscribed_channels: [],
      });
      expect(await flagsOf('second', Number(ids[1]))).toEqual([]);
      const refused = (parameters: Record<string, unknown>) =>
        organisation.ask('second', 'POST', 'messages/flags/narrow', { ...wish, op: 'add', ...parameters });
      expect((await refused({ narrow: [['channel', 'none']] })).body.code).toBe('BAD_NARROW');
      expect((await refused({ flag: 'nonsense' })).body.code).toBe('BAD_REQUEST');
    });
  });

  describe('the initial state', () => {
    const register = (who: Who, types: readonly string[]) =>
      organisation.do(who, 'POST', 'register', { event_types: [], fetch_event_types: types });

    it('has the same unread messages as a walk over all messages', async () => {
      const { id: other } = await addChannel(organisation, { members: ['member', 'second'] });
      const left = await addChannel(organisation, { isPrivate: true, members: ['member', 'second'] });
      for (const topic of ['x', 'X', '']) await sendTo(other, topic, '@**all**');
      await sendTo(left.id);
      await subscribe(organisation, left.id, organisation.id('second'), false);
      const pair = [organisation.id('second')];
      await send('member', { type: 'direct', to: pair, content: 'a' });
      await send('member', { type: 'direct', to: [...pair, organisation.id('owner')], content: 'a' });
      const { unread_msgs: unread } = (await register('second', ['message', 'update_message_flags'])) as {
        unread_msgs: Record<string, unknown>;
      };
      expect(unread).toEqual(await walk(left.id));
    });

    /** The second member's unread messages, collected one by one. */
    async function walk(leftId: number): Promise<Record<string, unknown>> {
      const { db } = organisation.server.server.database;
      const me = organisation.id('second');
      const lists = {
        pms: new Map<number, Record<string, unknown>>(),
        streams: new Map<string, Record<string, unknown>>(),
        huddles: new Map<string, Record<string, unknown>>(),
      };
      const mentions: number[] = [];
      let count = 0;
      const into = <Key>(map: Map<Key, Record<string, unknown>>, key: Key, fields: object, id: number) => {
        const entry = map.get(key) ?? { unread_message_ids: [] };
        (entry.unread_message_ids as number[]).push(id);
        map.set(key, { ...entry, ...fields });
      };
      for (const message of await db.selectFrom('messages').selectAll().orderBy('id').execute()) {
        const copy = await db
          .selectFrom('user_messages')
          .select('flags')
          .where('user_id', '=', me)
          .where('message_id', '=', message.id)
          .executeTakeFirst();
        if (copy === undefined || (copy.flags & messageFlags.read) !== 0) continue;
        if (message.channel_id === leftId) continue;
        const isPrivate = await db
          .selectFrom('channels')
          .innerJoin('subscriptions', 'subscriptions.channel_id', 'channels.id')
          .select('is_private')
          .where('channels.id', '=', message.channel_id ?? channelId(0))
          .where('subscriptions.user_id', '=', me)
          .executeTakeFirst();
        if (message.channel_id !== null && isPrivate === undefined) continue;
        count += 1;
        if ((copy.flags & messageFlags.stream_wildcard_mentioned) !== 0) mentions.push(message.id);
        if (message.channel_id !== null) {
          const topic = message.topic === '' ? 'general chat' : message.topic;
          const key = `${message.channel_id} ${message.topic_lower}`;
          into(lists.streams, key, { stream_id: message.channel_id, topic }, message.id);
          continue;
        }
        const people = await db
          .selectFrom('conversation_participants')
          .select('user_id')
          .where('conversation_id', '=', message.conversation_id ?? 0)
          .orderBy('user_id')
          .execute();
        const ids = people.map(({ user_id }) => user_id);
        const other = ids.find((id) => id !== me) ?? me;
        if (ids.length > 2)
          into(lists.huddles, ids.join(','), { user_ids_string: ids.join(',') }, message.id);
        else into(lists.pms, other, { other_user_id: other, sender_id: other }, message.id);
      }
      return {
        count,
        pms: [...lists.pms.values()],
        streams: [...lists.streams.values()],
        huddles: [...lists.huddles.values()],
        mentions,
        old_unreads_missing: false,
      };
    }

    it('has the newest message, starred messages, conversations and topic policies', async () => {
      const { id: own } = await addChannel(organisation, { members: ['administrator'] });
      const post = (to: unknown, topic?: string) =>
        send('administrator', {
          type: topic === undefined ? 'direct' : 'channel',
          to,
          content: 'a',
          ...(topic === undefined ? {} : { topic }),
        });
      const starred = await post(own, 'followed');
      await change('administrator', { messages: [starred], op: 'add', flag: 'starred' });
      const alone = await post([organisation.id('administrator')]);
      const newest = await post([organisation.id('owner')]);
      const state = await register('administrator', [
        'message',
        'starred_messages',
        'recent_private_conversations',
        'user_topic',
      ]);
      expect(state).toMatchObject({
        max_message_id: newest,
        starred_messages: [starred],
        recent_private_conversations: [
          { user_ids: [organisation.id('owner')], max_message_id: newest },
          { user_ids: [], max_message_id: alone },
        ],
        user_topics: [{ stream_id: own, topic_name: 'followed', visibility_policy: 3 }],
      });
    });
  });
});
