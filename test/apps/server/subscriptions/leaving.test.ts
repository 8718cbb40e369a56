import { beforeEach, describe, expect, it } from 'vitest';
import { eachBackend } from '../../../support/test-databases.js';
import { sharedOrganisation } from '../organisation-under-test.js';
import { path, subscriptionsUnderTest } from './subscriptions-under-test.js';

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  let name: string;
  beforeEach(() => {
    name = organisation.newName();
  });

  const { join, channelId, subscriptions } = subscriptionsUnderTest(organisation, () => name);

  describe('leaving a channel', () => {
    it('unsubscribes the user, notifies clients that can see the change, and keeps the user’s channel settings', async () => {
      await join('member', { subscriptions: [{ name, color: '#123456' }] });
      await join('second');
      const [own, peer] = [await organisation.watch('member'), await organisation.watch('second')];
      const body = await organisation.do('member', 'DELETE', path, { subscriptions: [name] });
      expect(body).toMatchObject({ removed: [name], not_removed: [] });
      const id = await channelId();
      expect(await own()).toEqual([
        { type: 'subscription', op: 'remove', subscriptions: [{ stream_id: id, name }] },
      ]);
      expect(await peer()).toEqual([
        { type: 'subscription', op: 'peer_remove', stream_ids: [id], user_ids: [organisation.id('member')] },
      ]);
      expect(await organisation.do('member', 'DELETE', path, { subscriptions: [name] })).toMatchObject({
        removed: [],
        not_removed: [name],
      });
      await join('member');
      expect((await subscriptions('member')).find((each) => each.name === name)).toMatchObject({
        color: '#123456',
      });
    });

    it('marks the channel’s unread messages as read, and the user’s clients get an event', async () => {
      const kept = `${name} kept`;
      const send = async (channel: string) =>
        (await organisation.do('owner', 'POST', 'messages', {
          type: 'channel',
          to: channel,
          topic: 'a',
          content: 'a',
        })) as { id: number };
      for (const [who, channel] of [
        ['owner', name],
        ['owner', kept],
        ['member', name],
        ['member', kept],
        ['second', name],
        ['second', kept],
      ] as const) {
        await join(who, {}, channel);
      }
      const [first, second, other] = [(await send(name)).id, (await send(name)).id, (await send(kept)).id];
      await organisation.do('member', 'POST', 'messages/flags', {
        messages: [first],
        op: 'add',
        flag: 'read',
      });
      const third = (await send(name)).id;
      const flags = { event_types: '["update_message_flags"]' };
      const told = [await organisation.watch('member', flags), await organisation.watch('second', flags)];
      const principals = [organisation.id('member'), organisation.id('second')];
      await organisation.do('owner', 'DELETE', path, { subscriptions: [name], principals });
      const read = (messages: number[]) => ({
        type: 'update_message_flags',
        op: 'add',
        operation: 'add',
        flag: 'read',
        all: false,
        messages,
      });
      expect(await Promise.all(told.map((events) => events()))).toEqual([
        [read([second, third])],
        [read([first, second, third])],
      ]);
      for (const who of ['member', 'second'] as const) {
        const types = { event_types: [], fetch_event_types: ['message', 'update_message_flags'] };
        const state = await organisation.do(who, 'POST', 'register', types);
        const { streams } = state.unread_msgs as { streams: { unread_message_ids: number[] }[] };
        const unread = streams.flatMap(({ unread_message_ids }) => unread_message_ids);
        expect(unread.filter((id) => id >= first)).toEqual([other]);
      }
    });

    it('hides a private channel from the user who leaves it', async () => {
      await join('owner', { invite_only: true });
      await join('owner', { principals: [organisation.id('second')] });
      const id = await channelId();
      const own = await organisation.watch('second', { event_types: '["stream"]' });
      await organisation.do('second', 'DELETE', path, { subscriptions: [name] });
      expect(await own()).toEqual([
        { type: 'stream', op: 'delete', stream_ids: [id], streams: [{ stream_id: id }] },
      ]);
    });

    it('lets only administrators and channel administrators remove other users', async () => {
      await join('member', { principals: [organisation.id('member'), organisation.id('second')] });
      const fields = { subscriptions: [name], principals: [organisation.id('second')] };
      const refused = await organisation.ask('moderator', 'DELETE', path, fields);
      expect([refused.status, refused.body.msg]).toEqual([400, 'Insufficient permission']);
      expect(await organisation.do('member', 'DELETE', path, fields)).toMatchObject({ removed: [name] });
      await join('second');
      expect(await organisation.do('administrator', 'DELETE', path, fields)).toMatchObject({
        removed: [name],
      });
    });

    it('refuses channels that the requester cannot see', async () => {
      await join('member', { invite_only: true });
      for (const wanted of [name, 'no such channel']) {
        const { status, body } = await organisation.ask('second', 'DELETE', path, {
          subscriptions: [wanted],
        });
        expect([status, body.msg]).toEqual([400, `Channel(s) (${wanted}) do not exist`]);
      }
    });
  });
});
