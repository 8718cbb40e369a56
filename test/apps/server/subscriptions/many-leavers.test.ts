import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { readLeftChannels } from '#server/conversations/messages/flags/read-left-channels.js';
import { messageFlags } from '#server/conversations/messages/message-flags.js';
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
      type: 'channel',
      to: id,
      topic: 'a',
      content: 'a',
    });
    return Number(messageId);
  };
  const channelOf = async (...whom: Who[]) => {
    const channel = new ChannelUnderTest(organisation);
    await channel.make('owner');
    await channel.add(...whom);
    return channel;
  };
  /** The channels' unread messages by user, except the owner's. */
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
  /**
   * Unsubscribes users in one transaction, which marks up to `limit` copies as read. Users in `back` rejoin at its end.
   */
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

  it('unread messages of many leaving users are marked as read in batches, and their clients get events', async () => {
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

  it('remaining messages of a user who rejoins in time stay unread', async () => {
    const channel = await channelOf('member', 'second');
    const ids = [await sendTo(channel), await sendTo(channel)];
    const second: Pair = [channel, 'second'];
    await leave([[channel, 'member'], second], 3, [second]);
    await organisation.server.settle();
    expect(await unreadOf(channel)).toEqual([[organisation.id('second'), ids[1]]]);
  });

  it.each([1, 10])(
    'messages of channels that other users left stay unread, in batches of %i',
    async (limit) => {
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
    },
  );
});
