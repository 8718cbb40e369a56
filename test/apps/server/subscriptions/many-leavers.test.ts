import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { readLeftChannels } from '#server/messages/flags/read-left-channels.js';
import { messageFlags } from '#server/messages/message-flags.js';
import { eachBackend } from '../../../support/test-databases.js';
import { ChannelUnderTest } from '../channel-administration/channel-under-test.js';
import { sharedOrganisation } from '../organisation-under-test.js';

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  const flags = { event_types: '["update_message_flags"]' };
  type Who = 'member' | 'second';
  type Pair = readonly [ChannelUnderTest, Who];

  const database = () => organisation.server.server.database;
  const sendTo = async ({ id }: ChannelUnderTest) => {
    const { id: messageId } = await organisation.do('owner', 'POST', 'messages', {
      ...{ type: 'channel', to: id, topic: 'a', content: 'a' },
    });
    return Number(messageId);
  };
  const channelOf = async (...whom: Who[]) => {
    const channel = new ChannelUnderTest(organisation);
    await channel.make('owner');
    await channel.add(...whom);
    return channel;
  };
  /** Who has which of a channel's messages unread, the owner apart. */
  const unreadOf = async (...channels: ChannelUnderTest[]) => {
    const rows = await database()
      .db.selectFrom('user_messages')
      .innerJoin('messages', 'messages.id', 'user_messages.message_id')
      .select(['user_id', 'message_id'])
      .where(
        'channel_id',
        'in',
        channels.map(({ id }) => id),
      )
      .where('user_id', '<>', organisation.id('owner'))
      .where(sql<boolean>`flags & ${sql.lit(messageFlags.read)} = 0`)
      .orderBy('user_id')
      .orderBy('message_id')
      .execute();
    return rows.map(({ user_id, message_id }) => [user_id, message_id]);
  };
  /** Takes them out in one transaction that reads so many copies, in which some of them come back. */
  const leave = (left: readonly Pair[], limit: number, back: readonly Pair[] = []) =>
    database().write(async (transaction) => {
      const context = { clock: () => organisation.server.now, database: database(), publish: async () => {} };
      const setActive = async ([{ id }, who]: Pair, isActive: 0 | 1) =>
        transaction.db
          .updateTable('subscriptions')
          .set({ is_active: isActive })
          .where('channel_id', '=', id)
          .where('user_id', '=', organisation.id(who))
          .execute();
      for (const each of left) await setActive(each, 0);
      const memberships = left.map(([{ id }, who]) => ({ channelId: id, userId: organisation.id(who) }));
      await readLeftChannels(transaction, context, memberships, limit);
      for (const each of back) await setActive(each, 1);
    });

  it('what very many leavers have not read is read a part at a time, to the end, and their clients are told', async () => {
    const channel = await channelOf('member', 'second');
    const ids = [await sendTo(channel), await sendTo(channel)];
    const events = await organisation.watch('second', flags);
    await leave(
      [
        [channel, 'second'],
        [channel, 'member'],
      ],
      3,
    );
    await organisation.server.settle();
    expect(await unreadOf(channel)).toEqual([]);
    expect(await events()).toMatchObject([{ flag: 'read', op: 'add', messages: [ids[1]] }]);
  });

  it('what is left of one who is back by then stays unread', async () => {
    const channel = await channelOf('member', 'second');
    const ids = [await sendTo(channel), await sendTo(channel)];
    const second: Pair = [channel, 'second'];
    await leave([[channel, 'member'], second], 3, [second]);
    await organisation.server.settle();
    expect(await unreadOf(channel)).toEqual([[organisation.id('second'), ids[1]]]);
  });

  it.each([1, 10])('what others left is not read, with %i at once', async (limit) => {
    const channels = [await channelOf('member', 'second'), await channelOf('member', 'second')] as const;
    const ids = [await sendTo(channels[0]), await sendTo(channels[1])];
    await leave(
      [
        [channels[1], 'member'],
        [channels[0], 'second'],
      ],
      limit,
    );
    await organisation.server.settle();
    expect(await unreadOf(...channels)).toEqual([
      [organisation.id('member'), ids[0]],
      [organisation.id('second'), ids[1]],
    ]);
  });
});
