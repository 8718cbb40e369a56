import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { whileLocked } from '../../../support/lock-waits.js';
import { eachBackend } from '../../../support/test-databases.js';
import { ChannelUnderTest } from '../channel-administration/channel-under-test.js';
import { addChannel } from '../messages/chat-under-test.js';
import { sharedOrganisation } from '../organisation-under-test.js';

const knowsNull = { client_capabilities: '{"notification_settings_null":true}' };

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  let channel: ChannelUnderTest;
  beforeEach(async () => {
    channel = new ChannelUnderTest(organisation);
    await channel.make();
  });

  const change = (who: 'member' | 'second', data: Record<string, unknown>[]) =>
    organisation.ask(who, 'POST', 'users/me/subscriptions/properties', {
      subscription_data: data.map((each) => ({ stream_id: channel.id, ...each })),
    });

  describe('a user’s subscription settings', () => {
    it('are stored and published to the user’s clients, also as the legacy form of muting', async () => {
      const [own, second] = [
        await organisation.watch('member', knowsNull),
        await organisation.watch('second'),
      ];
      const { status } = await change('member', [
        { property: 'color', value: '#ABCDEF' },
        { property: 'is_muted', value: true },
        { property: 'push_notifications', value: true },
        { property: 'email_notifications', value: null },
      ]);
      expect(status).toBe(200);
      const { subscriptions } = await organisation.do('member', 'GET', 'users/me/subscriptions');
      expect(subscriptions).toContainEqual(
        expect.objectContaining({
          stream_id: channel.id,
          color: '#abcdef',
          is_muted: true,
          in_home_view: false,
          push_notifications: true,
          email_notifications: null,
        }),
      );
      const told = (property: string, value: unknown) => ({
        type: 'subscription',
        op: 'update',
        stream_id: channel.id,
        property,
        value,
      });
      expect(await own()).toEqual([
        told('color', '#abcdef'),
        told('is_muted', true),
        told('in_home_view', false),
        told('push_notifications', true),
        told('email_notifications', null),
      ]);
      expect(await second()).toEqual([]);
      await change('member', [{ property: 'in_home_view', value: true }]);
      const now = await organisation.do('member', 'GET', 'users/me/subscriptions');
      expect(now.subscriptions).toContainEqual(
        expect.objectContaining({ stream_id: channel.id, is_muted: false }),
      );
    });

    it('take the last of several changes of one property, and publish only the last change', async () => {
      const own = await organisation.watch('member');
      const muted = (property: string, value: boolean) => ({ property, value });
      await change('member', [
        muted('is_muted', true),
        muted('in_home_view', true),
        muted('is_muted', true),
        muted('pin_to_top', false),
        muted('pin_to_top', true),
        muted('pin_to_top', false),
      ]);
      const { subscriptions } = await organisation.do('member', 'GET', 'users/me/subscriptions');
      expect(subscriptions).toContainEqual(
        expect.objectContaining({ stream_id: channel.id, is_muted: true, pin_to_top: false }),
      );
      expect(await own()).toMatchObject([
        { property: 'is_muted', value: true },
        { property: 'in_home_view', value: false },
        { property: 'pin_to_top', value: false },
      ]);
    });

    it('are published with the user’s account-wide settings to clients without support for null', async () => {
      await organisation.do('member', 'PATCH', 'settings', { enable_stream_push_notifications: true });
      const [old, capable] = [
        await organisation.watch('member', { event_types: '["subscription"]' }),
        await organisation.watch('member', { event_types: '["subscription"]', ...knowsNull }),
      ];
      const [own, name] = [organisation.id('member'), `inherits ${organisation.newName()}`];
      await change('member', [{ property: 'push_notifications', value: null }]);
      await organisation.do('second', 'POST', 'users/me/subscriptions', {
        subscriptions: [{ name }],
        principals: [own],
      });
      const nothing = {
        desktop_notifications: null,
        audible_notifications: null,
        push_notifications: null,
        email_notifications: null,
        wildcard_mentions_notify: null,
      };
      const resolved = {
        desktop_notifications: false,
        audible_notifications: false,
        push_notifications: true,
        email_notifications: false,
        wildcard_mentions_notify: true,
      };
      expect(await capable()).toMatchObject([
        { op: 'update', value: null },
        { op: 'add', subscriptions: [{ name, ...nothing }] },
      ]);
      expect(await old()).toMatchObject([
        { op: 'update', value: true },
        { op: 'add', subscriptions: [{ name, ...resolved }] },
      ]);
    });

    it.each([
      [{ property: 'color', value: 'red' }],
      [{ property: 'color', value: 5 }],
      [{ property: 'is_muted', value: null }],
      [{ property: 'pin_to_top', value: 'yes' }],
      [{ property: 'unknown', value: true }],
      [{ property: 'is_muted' }],
    ])('cannot be %j', async (data) => {
      const { status, body } = await change('member', [data]);
      expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
    });

    // SQLite cannot have this race, because it runs one write transaction at a time.
    if (backend.name === 'postgres') {
      it('are locked in the order of channels, regardless of the order in the request', async () => {
        const later = new ChannelUnderTest(organisation);
        await later.make();
        const rowOf = (id: number) => sql`
          select 1 from subscriptions where channel_id = ${id} and user_id = ${organisation.id('member')}
          for update nowait`;
        const { status } = await whileLocked(
          organisation.server.server.database.db,
          (transaction) => rowOf(channel.id).execute(transaction),
          () =>
            change('member', [
              { stream_id: later.id, property: 'is_muted', value: true },
              { property: 'pin_to_top', value: true },
            ]),
          // Fails if the request already holds this lock.
          (transaction) => rowOf(later.id).execute(transaction),
        );
        expect(status).toBe(200);
      });
    }

    it('cannot change for channels that the user is not subscribed to', async () => {
      const { status, body } = await change('second', [{ property: 'is_muted', value: true }]);
      expect([status, body.msg]).toEqual([400, `Not subscribed to channel ID ${channel.id}`]);
    });
  });

  describe('a user’s topic policy', () => {
    const want = (topic: string, visibility_policy: number, who: 'member' | 'guest' = 'member') =>
      organisation.ask(who, 'POST', 'user_topics', { stream_id: channel.id, topic, visibility_policy });
    const wanted = async () => {
      const { user_topics: all } = await organisation.do('member', 'POST', 'register');
      return (all as { stream_id: number }[]).filter(({ stream_id }) => stream_id === channel.id);
    };

    it('is stored regardless of letter case, can be reset, and is published to the user’s clients', async () => {
      const own = await organisation.watch('member');
      await want('Lunch', 1);
      await want('lunch', 3);
      const last_updated = Math.floor(organisation.server.now / 1000);
      const entry = { stream_id: channel.id, topic_name: 'lunch', last_updated, visibility_policy: 3 };
      expect(await wanted()).toEqual([entry]);
      await want('LUNCH', 0);
      expect(await wanted()).toEqual([]);
      expect(await own()).toEqual([
        { type: 'user_topic', ...entry, topic_name: 'Lunch', visibility_policy: 1 },
        { type: 'user_topic', ...entry },
        { type: 'user_topic', ...entry, topic_name: 'LUNCH', visibility_policy: 0 },
      ]);
    });

    it('is stored for at most 10,000 topics', async () => {
      const { db } = organisation.server.server.database;
      const userId = organisation.id('owner');
      const row = (index: number) => ({
        user_id: userId,
        channel_id: channel.id,
        topic: `t${index}`,
        topic_lower: `t${index}`,
        visibility_policy: 1,
        updated_at: 0,
      });
      for (let from = 0; from < 9_999; from += 1111) {
        const rows = Array.from({ length: 1111 }, (_, index) => row(from + index));
        await db.insertInto('user_topics').values(rows).execute();
      }
      const wish = (topic: string, policy: number) =>
        organisation.ask('owner', 'POST', 'user_topics', {
          stream_id: channel.id,
          topic,
          visibility_policy: policy,
        });
      expect((await wish('last', 1)).status).toBe(200);
      const { status, body } = await wish('one more', 1);
      expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
      expect(body.msg).toContain('10000 topics');
      expect((await wish('T1', 3)).status).toBe(200);
      expect((await wish('t2', 0)).status).toBe(200);
      expect((await wish('one more', 1)).status).toBe(200);
    });

    it('is refused for unknown policies and channels', async () => {
      expect((await want('x', 4)).body.code).toBe('BAD_REQUEST');
      expect((await want('x', 1, 'guest')).body.msg).toBe('Invalid channel ID');
      expect((await want('x'.repeat(61), 1)).body.code).toBe('BAD_REQUEST');
    });
  });

  describe('whether a user is subscribed to a channel', () => {
    const ask = (who: 'owner' | 'guest', userId: number) =>
      organisation.ask(who, 'GET', `users/${userId}/subscriptions/${channel.id}`);

    it('is visible to users who can see both', async () => {
      expect((await ask('owner', organisation.id('member'))).body.is_subscribed).toBe(true);
      expect((await ask('owner', organisation.id('second'))).body.is_subscribed).toBe(false);
      expect((await ask('guest', organisation.id('member'))).body.msg).toBe('Invalid channel ID');
      expect((await ask('owner', 99_999)).body.msg).toBe('No such user');
    });
  });

  describe('the channels of another user', () => {
    const ask = (who: 'owner' | 'guest' | 'second', userId: number) =>
      organisation.ask(who, 'GET', `users/${userId}/channels`);
    const idsOf = async (...asked: Parameters<typeof ask>) =>
      (await ask(...asked)).body.subscribed_channel_ids as number[];

    it('include only active channels that the reader can also see', async () => {
      const member = organisation.id('member');
      expect(await idsOf('owner', member)).toContain(channel.id);
      expect(await idsOf('guest', member)).not.toContain(channel.id);
      expect(await idsOf('owner', organisation.id('second'))).not.toContain(channel.id);
      expect(await idsOf('owner', organisation.id('bot'))).toEqual([]);
      expect((await ask('owner', 99_999)).body).toMatchObject({ code: 'BAD_REQUEST', msg: 'No such user' });
      const hidden = await addChannel(organisation, { isPrivate: true, members: ['member'] });
      const gone = await addChannel(organisation, { isArchived: true, members: ['member'] });
      expect(await idsOf('owner', member)).toContain(hidden.id);
      expect(await idsOf('second', member)).not.toContain(hidden.id);
      expect(await idsOf('owner', member)).not.toContain(gone.id);
    });
  });

  it('PATCH users/me/subscriptions is no longer supported', async () => {
    const { status, body } = await organisation.ask('member', 'PATCH', 'users/me/subscriptions', {
      add: [{ name: 'x' }],
    });
    expect([status, body.result]).toEqual([405, 'error']);
  });
});
