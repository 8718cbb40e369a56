import { type Kysely, sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { readSome } from '#server/conversations/messages/flags/read-archived-channel.js';
import { messageFlags } from '#server/conversations/messages/message-flags.js';
import type { ServerTables } from '#server/tables.js';
import { userId } from '../../../support/ids.js';
import { eachBackend } from '../../../support/test-databases.js';
import { sharedOrganisation } from '../organisation-under-test.js';
import { ChannelUnderTest } from './channel-under-test.js';

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  const flags = { event_types: '["update_message_flags"]' };
  let channel: ChannelUnderTest;
  beforeEach(async () => {
    channel = new ChannelUnderTest(organisation);
    await channel.make('owner');
    await channel.add('member', 'second');
  });

  const database = () => organisation.server.server.database;
  const sendTo = async (to: number) => {
    const { id } = await organisation.do('owner', 'POST', 'messages', {
      type: 'channel',
      to,
      topic: 'a',
      content: 'a',
      read_by_sender: true,
    });
    return Number(id);
  };
  const archive = () => organisation.do('owner', 'DELETE', `streams/${channel.id}`);
  const unreadOf = async (who: 'member' | 'second') => {
    const types = { event_types: [], fetch_event_types: ['message', 'update_message_flags'] };
    const { unread_msgs } = await organisation.do(who, 'POST', 'register', types);
    const { streams } = unread_msgs as { streams: { stream_id: number; unread_message_ids: number[] }[] };
    return streams
      .filter(({ stream_id }) => stream_id === channel.id)
      .flatMap(({ unread_message_ids }) => unread_message_ids);
  };
  const unreadCopies = (db: Kysely<ServerTables> = database().db) =>
    db
      .selectFrom('user_messages')
      .innerJoin('messages', 'messages.id', 'user_messages.message_id')
      .select(['message_id', 'user_id'])
      .where('channel_id', '=', channel.id)
      .where(sql<boolean>`flags & ${sql.lit(messageFlags.read)} = 0`)
      .orderBy('message_id')
      .orderBy('user_id')
      .execute();
  /**
   * Runs the first batch. Returns the unread copies left for the next job, and the user id after which that job
   * continues.
   */
  const step = (most?: { readonly users: number; readonly copies: number }) =>
    database().write(async (transaction) => {
      const { jobs } = database();
      let after: number | undefined;
      const enqueue: typeof jobs.enqueue = (within, job) => {
        if (job.kind === 'messages/read-archived-channel') after = JSON.parse(job.payload).lastUserId;
        return jobs.enqueue(within, job);
      };
      const watched = { ...database(), jobs: Object.create(jobs, { enqueue: { value: enqueue } }) };
      const context = { clock: () => organisation.server.now, database: watched, publish: async () => {} };
      await readSome(transaction, context, { channelId: channel.id, lastUserId: userId(0) }, most);
      return { left: await unreadCopies(transaction.db), after };
    });

  describe('an archived channel', () => {
    it('is marked as read for all subscribers, and their clients get an event about this channel only', async () => {
      const other = new ChannelUnderTest(organisation);
      await other.make('owner');
      await other.add('member');
      const elsewhere = await sendTo(other.id);
      const ids = [await sendTo(channel.id), await sendTo(channel.id)];
      const wish = { messages: [ids[0]], op: 'add', flag: 'read' };
      await organisation.do('member', 'POST', 'messages/flags', wish);
      const told = [await organisation.watch('member', flags), await organisation.watch('second', flags)];
      await archive();
      await organisation.server.settle();
      const read = (messages: unknown[]) => ({
        type: 'update_message_flags',
        op: 'add',
        operation: 'add',
        flag: 'read',
        all: false,
        messages,
      });
      expect(await Promise.all(told.map((events) => events()))).toEqual([[read([ids[1]])], [read(ids)]]);
      expect([await unreadOf('member'), await unreadOf('second'), await unreadCopies()]).toEqual([
        [],
        [],
        [],
      ]);
      const { message } = await organisation.do('member', 'GET', `messages/${elsewhere}`);
      expect((message as { flags: string[] }).flags).toEqual([]);
    });

    it.each([
      ['a limited number of copies', { users: 3, copies: 3 }, 1, () => organisation.id('second') - 1],
      ['a limited number of users', { users: 2, copies: 10 }, 2, () => organisation.id('member')],
    ])(
      'is marked as read in batches with %s, each starting where the last batch ended',
      async (_, most, left, after) => {
        await sendTo(channel.id);
        await sendTo(channel.id);
        const { db } = database();
        await db.updateTable('channels').set({ is_archived: 1 }).where('id', '=', channel.id).execute();
        expect(await unreadCopies()).toHaveLength(4);
        const done = await step(most);
        expect(done.left).toHaveLength(left);
        expect(done.after).toBe(after());
        await organisation.server.settle();
        expect(await unreadCopies()).toEqual([]);
      },
    );

    it('stays unread if it is unarchived before the job runs', async () => {
      const id = await sendTo(channel.id);
      expect(await step()).toMatchObject({ left: [{}, {}], after: undefined });
      await organisation.server.settle();
      expect(await unreadOf('member')).toEqual([id]);
    });

    it('gets notices that are marked as read from the start', async () => {
      await organisation.do('owner', 'PATCH', 'realm', { send_channel_events_messages: true });
      await archive();
      await organisation.server.settle();
      await channel.updated('owner', { new_name: `${channel.name} again` });
      await organisation.do('owner', 'PATCH', 'realm', { send_channel_events_messages: false });
      expect(await channel.messages()).toMatchObject([{ topic: 'channel events' }]);
      expect(await unreadCopies()).toEqual([]);
    });
  });
});
