import { describe, expect, it } from 'vitest';
import {
  insertSubscriptions,
  removeSubscriptions,
} from '#server/conversations/channels/subscription-store.js';
import { retractFromUsersWhoLeft } from '#server/conversations/messages/push/withdraw-notifications.js';
import { eachBackend } from '../../../../support/test-databases.js';
import { sharedPush } from './push-under-test.js';

eachBackend((backend) => {
  const push = sharedPush(backend);
  const read = (id: number) =>
    push.do(push.ada, 'POST', 'messages/flags', { messages: `[${id}]`, op: 'add', flag: 'read' });
  const moveToPrivate = async (id: number) => {
    const target = await push.channel([push.bob], { isPrivate: true });
    await push.do(push.bob, 'PATCH', `messages/${id}`, { stream_id: String(target) });
  };
  const remove = (id: number) => push.do(push.bob, 'DELETE', `messages/${id}`);
  const ways = [
    ['is read', read],
    ['is deleted', remove],
    ['is moved to a channel that its reader cannot read', moveToPrivate],
  ] as const;

  describe('a message after its push notification', () => {
    it.each(ways)('is retracted when it %s', async (_, act) => {
      const channel = await push.channel([push.ada, push.bob]);
      const id = await push.sendToChannel(channel, push.mention);
      await push.server.settle();
      const told = await push.arriving(() => act(id));
      expect(told).toMatchObject([{ type: 'remove', message_ids: [id] }]);
    });

    it('is retracted when its channel is archived', async () => {
      const channel = await push.channel([push.ada, push.bob]);
      const id = await push.sendToChannel(channel, push.mention);
      await push.server.settle();
      const told = await push.arriving(() => push.do(push.bob, 'DELETE', `streams/${channel}`));
      expect(told).toMatchObject([{ type: 'remove', message_ids: [id] }]);
    });

    it('is retracted when it moves to another channel after its reader has left the first channel', async () => {
      const channel = await push.channel([push.ada, push.bob], { isPrivate: true });
      const id = await push.sendToChannel(channel, push.mention);
      await push.server.settle();
      await push.leave(channel, push.ada);
      const told = await push.arriving(() => moveToPrivate(id));
      expect(told).toMatchObject([{ type: 'remove', message_ids: [id] }]);
    });

    it.each([
      ['private', true],
      ['public', false],
    ])(
      'is retracted with all other messages of a %s channel when its reader leaves or is removed',
      async (kind, isPrivate) => {
        for (const who of [push.ada, push.bob]) {
          const name = `left by ${who.email}, ${kind}`;
          const channel = await push.channel([push.ada, push.bob], { isPrivate, name });
          const kept = await push.channel([push.ada, push.bob]);
          const ids = [await push.sendToChannel(channel, push.mention)];
          await push.sendToChannel(kept, push.mention);
          ids.push(await push.sendToChannel(channel, push.mention, 'another topic'));
          await push.server.settle();
          const principals = JSON.stringify([push.ada.userId]);
          const told = await push.arriving(() =>
            push.do(who, 'DELETE', 'users/me/subscriptions', {
              subscriptions: JSON.stringify([name]),
              principals,
            }),
          );
          expect(told).toMatchObject([{ type: 'remove', message_ids: ids }]);
        }
      },
    );

    it('stays on the phone if its reader leaves and rejoins the channel before the job runs', async () => {
      const channel = await push.channel([push.ada, push.bob]);
      await push.sendToChannel(channel, push.mention);
      await push.server.settle();
      const { database } = push.server.server;
      const { userId } = push.ada;
      const told = await push.arriving(() =>
        // One transaction, so that the job cannot run in between.
        database.write(async (transaction) => {
          const left = await removeSubscriptions(transaction.db, [{ channelId: channel, userId }]);
          await insertSubscriptions(transaction.db, left);
          const context = { clock: () => push.server.now, database };
          await retractFromUsersWhoLeft(transaction, context, { userIds: [userId], channelIds: [channel] });
        }),
      );
      expect(told).toEqual([]);
    });

    it('stays on the phone if it moves to another channel of its reader', async () => {
      const channel = await push.channel([push.ada, push.bob]);
      const target = await push.channel([push.ada, push.bob]);
      const id = await push.sendToChannel(channel, push.mention);
      await push.server.settle();
      const move = () => push.do(push.bob, 'PATCH', `messages/${id}`, { stream_id: String(target) });
      expect(await push.arriving(move)).toEqual([]);
    });

    it('is retracted together with all other messages that are read with it', async () => {
      const ids: number[] = [];
      for (const content of ['a', 'b', 'c']) ids.push(await push.send(push.bob, { ...push.toAda, content }));
      await push.server.settle();
      const told = await push.arriving(() =>
        push.do(push.ada, 'POST', 'messages/flags/narrow', {
          anchor: 'newest',
          num_before: '10',
          num_after: '0',
          narrow: JSON.stringify([{ operator: 'dm', operand: [push.bob.userId] }]),
          op: 'add',
          flag: 'read',
        }),
      );
      expect(told).toMatchObject([{ type: 'remove', message_ids: ids }]);
    });
  });

  describe('a message whose push waits for the relay', () => {
    it('is pushed later if nothing has changed', async () => {
      const channel = await push.channel([push.ada, push.bob]);
      const told = await push.arrivingLater(
        () => push.sendToChannel(channel, push.mention),
        async () => undefined,
      );
      expect(told).toMatchObject([{ type: 'message', content: '@Somebody' }]);
    });

    it.each([...ways, ['is in a channel that its reader has left', undefined] as const])(
      'is never pushed if it %s',
      async (_, act) => {
        const channel = await push.channel([push.ada, push.bob]);
        let id = 0;
        const told = await push.arrivingLater(
          async () => {
            id = await push.sendToChannel(channel, push.mention);
          },
          () => act?.(id) ?? push.leave(channel, push.ada),
        );
        expect(told.filter(({ type }) => type === 'message')).toEqual([]);
      },
    );

    it('is pushed later if it is direct and still unread', async () => {
      const told = await push.arrivingLater(
        () => push.send(push.bob, { ...push.toAda, content: 'hello' }),
        async () => undefined,
      );
      expect(told).toMatchObject([{ type: 'message', content: 'hello' }]);
    });
  });
});
