import { beforeEach, describe, expect, it } from 'vitest';
import { channelId as asChannelId } from '../../../support/ids.js';
import { lockWaiters } from '../../../support/lock-waiters.js';
import { eachBackend } from '../../../support/test-databases.js';
import { sharedOrganisation } from '../organisation-under-test.js';
import { subscriptionsUnderTest } from './subscriptions-under-test.js';

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  let name: string;
  beforeEach(() => {
    name = organisation.newName();
  });

  const { join, channelId, subscriptions } = subscriptionsUnderTest(organisation, () => name);

  describe('joining a channel', () => {
    it('creates a missing channel with the requested settings', async () => {
      const { body } = await join('member', {
        subscriptions: [{ name: ` ${name} `, description: 'One\nand **two**', color: '#ABCDEF' }],
        topics_policy: '"disable_empty_topic"',
      });
      const id = organisation.id('member');
      expect(body).toMatchObject({ subscribed: { [id]: [name] }, already_subscribed: {} });
      const own = (await subscriptions('member')).find((each) => each.name === name);
      expect(own).toMatchObject({
        name,
        description: 'One and **two**',
        rendered_description: '<p>One and <strong>two</strong></p>',
        color: '#abcdef',
        invite_only: false,
        is_web_public: false,
        history_public_to_subscribers: true,
        topics_policy: 'disable_empty_topic',
        creator_id: id,
        subscribers: [id],
        subscriber_count: 1,
        is_muted: false,
        in_home_view: true,
        stream_post_policy: 1,
        can_administer_channel_group: { direct_members: [id], direct_subgroups: [] },
      });
    });

    it('accepts null for the description and color', async () => {
      await join('member', { subscriptions: [{ name, description: null, color: null }] });
      const own = (await subscriptions('member')).find((each) => each.name === name);
      expect(own).toMatchObject({ description: '', color: expect.stringMatching(/^#/) });
    });

    it('lists existing subscribers as already subscribed', async () => {
      await join('member');
      const { body } = await join('member', {}, name.toUpperCase());
      expect(body).toMatchObject({
        subscribed: {},
        already_subscribed: { [organisation.id('member')]: [name] },
      });
    });

    it('publishes a new channel to all users, and the subscription to the subscriber and to other clients', async () => {
      const [own, peer, guest] = [
        await organisation.watch('member'),
        await organisation.watch('second'),
        await organisation.watch('guest'),
      ];
      await join('member');
      const id = await channelId();
      const create = {
        type: 'stream',
        op: 'create',
        streams: [expect.objectContaining({ stream_id: id, name })],
      };
      expect(await own()).toEqual([
        create,
        {
          type: 'subscription',
          op: 'add',
          subscriptions: [
            expect.objectContaining({ stream_id: id, subscribers: [organisation.id('member')] }),
          ],
        },
      ]);
      expect(await peer()).toEqual([
        create,
        { type: 'subscription', op: 'peer_add', stream_ids: [id], user_ids: [organisation.id('member')] },
      ]);
      expect(await guest()).toEqual([]);
    });

    it('publishes a private channel only to its subscribers and administrators', async () => {
      const [second, administrator] = [
        await organisation.watch('second'),
        await organisation.watch('administrator'),
      ];
      await join('member', { invite_only: true });
      expect(await second()).toEqual([]);
      expect(await administrator()).toHaveLength(2);
      await join('member', { principals: [organisation.id('second')] });
      expect(await second()).toEqual([
        expect.objectContaining({ type: 'stream', op: 'create' }),
        expect.objectContaining({ type: 'subscription', op: 'add' }),
      ]);
    });

    it('creates private channels with protected history by default', async () => {
      await join('member', { invite_only: true });
      const hidden = (await subscriptions('member')).find((each) => each.name === name);
      expect(hidden).toMatchObject({ invite_only: true, history_public_to_subscribers: false });
      name = organisation.newName();
      await join('member', { invite_only: true, history_public_to_subscribers: true });
      const shared = (await subscriptions('member')).find((each) => each.name === name);
      expect(shared).toMatchObject({ invite_only: true, history_public_to_subscribers: true });
    });

    it('adds other users by id or address, and refuses unknown and deactivated users', async () => {
      const principals = [organisation.id('second'), 'GUEST@example.com'];
      const { body } = await join('member', { principals });
      expect(Object.keys(body.subscribed as object).map(Number)).toEqual(
        [organisation.id('second'), organisation.id('guest')].sort((a, b) => a - b),
      );
      for (const unknown of [999_999, 'nobody@example.com', 'notification-bot@system.invalid']) {
        const { status, body } = await join('member', { principals: [unknown] });
        expect([status, body.msg]).toEqual([400, `There is no active user ${unknown}`]);
      }
    });

    it('refuses guests', async () => {
      const { status, body } = await join('guest');
      expect([status, body.msg]).toEqual([400, 'Not allowed for guest users']);
    });

    it('refuses a private channel for other users, even administrators, or skips it on request', async () => {
      await join('member', { invite_only: true });
      for (const who of ['second', 'administrator', 'owner'] as const) {
        const { status, body } = await join(who);
        expect([status, body.msg]).toEqual([400, `Unable to access channel (${name}).`]);
      }
      const { body } = await join('second', { authorization_errors_fatal: false });
      expect(body).toMatchObject({ subscribed: {}, unauthorized: [name] });
    });

    it('lets members of can_subscribe_group join a private channel', async () => {
      await join('member', {
        invite_only: true,
        can_subscribe_group: { direct_members: [organisation.id('second')], direct_subgroups: [] },
      });
      expect((await join('second')).status).toBe(200);
    });

    it.each([
      ['an empty name', ' ', "Channel name can't be empty."],
      ['a long name', 'x'.repeat(61), 'Channel name too long (limit: 60 characters).'],
      ['a control character', 'ab\u0007c', 'Invalid character in channel name, at position 3.'],
    ])('refuses %s', async (_, wanted, message) => {
      const { status, body } = await join('member', {}, wanted);
      expect([status, body.code, body.msg]).toEqual([400, 'BAD_REQUEST', message]);
    });

    it.each([
      [{ is_web_public: true, invite_only: true }, 'Invalid parameters'],
      [{ history_public_to_subscribers: false }, 'Invalid parameters'],
      [{ is_default_stream: true, invite_only: true }, 'A default channel cannot be private.'],
      [{ is_web_public: true }, 'Web-public channels are not enabled.'],
      [{ folder_id: 99 }, 'Invalid channel folder ID'],
      [{ color: '#abc' }, undefined],
    ])('refuses an invalid combination: %j', async (fields, message) => {
      const { color, ...rest } = fields as Record<string, unknown>;
      const subscriptions = [{ name, ...(color === undefined ? {} : { color }) }];
      const { status, body } = await join('owner', { ...rest, subscriptions });
      expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
      if (message !== undefined) expect(body.msg).toBe(message);
      expect((await organisation.ask('owner', 'GET', 'get_stream_id', { stream: name })).status).toBe(400);
    });

    it('accepts retention days only from owners, and refuses invalid values', async () => {
      const days = { message_retention_days: 5 };
      expect((await join('administrator', days)).body.code).toBe('UNAUTHORIZED_PRINCIPAL');
      expect((await join('owner', { message_retention_days: 0 })).body.code).toBe('REQUEST_VARIABLE_INVALID');
      await join('owner', days);
      expect((await subscriptions('owner')).find((each) => each.name === name)).toMatchObject(days);
    });

    it.each([
      ['can_create_public_channel_group', {}],
      ['can_create_private_channel_group', { invite_only: true }],
      ['can_set_topics_policy_group', { topics_policy: 'empty_topic_only' }],
    ])('requires %s for %j', async (permission, fields) => {
      const members = await organisation.roleGroup('members');
      const set = (group: number) =>
        organisation.do('owner', 'PATCH', 'realm', { [permission]: { new: group } });
      await set(await organisation.roleGroup('nobody'));
      const { status, body } = await join('member', fields);
      expect([status, body.msg]).toEqual([400, 'Insufficient permission']);
      await set(members);
      expect((await join('member', fields)).status).toBe(200);
    });

    it('requires a permission to add other users to a channel', async () => {
      await join('owner');
      const others = { principals: [organisation.id('second')] };
      const members = await organisation.roleGroup('members');
      const set = (group: number) =>
        organisation.do('owner', 'PATCH', 'realm', { can_add_subscribers_group: { new: group } });
      await set(await organisation.roleGroup('nobody'));
      expect((await join('member', others)).body.msg).toBe('Insufficient permission');
      expect((await join('administrator', others)).status).toBe(200);
      await set(members);
      expect((await join('member', others)).status).toBe(200);
    });

    it('creates one channel from concurrent requests with the same name', async () => {
      const answers = await Promise.all(
        (['member', 'second', 'owner', 'moderator'] as const).map((who) => join(who)),
      );
      for (const { status, body } of answers) {
        expect([200, 409]).toContain(status);
        if (status === 409)
          expect(body).toMatchObject({ code: 'CHANNEL_ALREADY_EXISTS', channel_name: name });
      }
      const { streams } = await organisation.do('owner', 'GET', 'streams');
      expect((streams as { name: string }[]).filter((each) => each.name === name)).toHaveLength(1);
    });

    // SQLite cannot have this race, because it runs one write transaction at a time.
    if (backend.name === 'postgres') {
      it('refuses a name that another channel takes meanwhile', async () => {
        const { db } = organisation.server.server.database;
        await join('owner');
        const id = await channelId();
        const wanted = organisation.newName();
        const { answer } = await db.transaction().execute(async (transaction) => {
          const names = { name: wanted.toUpperCase(), name_lower: wanted };
          await transaction.updateTable('channels').set(names).where('id', '=', asChannelId(id)).execute();
          const answer = join('member', {}, wanted);
          await expect.poll(() => lockWaiters(db)).toBe(1);
          return { answer };
        });
        const { status, body } = await answer;
        expect([status, body]).toMatchObject([
          409,
          { code: 'CHANNEL_ALREADY_EXISTS', channel_name: wanted, msg: expect.stringContaining(wanted) },
        ]);
        expect(await channelId('owner', wanted)).toBe(id);
      });
    }

    it('creates a default channel only for administrators, and publishes it to all users except guests', async () => {
      expect((await join('member', { is_default_stream: true })).status).toBe(400);
      const [second, guest] = [
        await organisation.watch('second', { event_types: '["default_streams"]' }),
        await organisation.watch('guest', { event_types: '["default_streams"]' }),
      ];
      await join('administrator', { is_default_stream: true });
      expect(await second()).toEqual([
        { type: 'default_streams', default_streams: expect.arrayContaining([await channelId()]) },
      ]);
      expect(await guest()).toEqual([]);
    });
  });
});
