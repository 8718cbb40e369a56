import { beforeAll, describe, expect, it } from 'vitest';
import { eachBackend } from '../../../support/test-databases.js';
import { sharedOrganisation } from '../organisation-under-test.js';

const subscriptions = 'users/me/subscriptions';

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  type Who = Parameters<typeof organisation.ask>[0];
  let name: string;
  let id: number;

  const own = async (who: Who, channel = name) => {
    const { subscriptions: all } = await organisation.do(who, 'GET', subscriptions);
    return (all as { name: string; push_notifications: boolean | null }[]).find(
      (each) => each.name === channel,
    );
  };
  const join = (who: Who, channel = name) =>
    organisation.do(who, 'POST', subscriptions, { subscriptions: [{ name: channel }] });
  const channel = async (of = id) =>
    (await organisation.do('owner', 'GET', `streams/${of}`)).stream as Record<string, unknown>;
  const idOf = async (stream: string) =>
    Number((await organisation.do('owner', 'GET', 'get_stream_id', { stream })).stream_id);

  beforeAll(async () => {
    name = organisation.newName();
    await join('member');
    id = await idOf(name);
  });

  describe('default_push_notifications of a channel', () => {
    it('is off by default, and leaves notifications to the settings of subscribers', async () => {
      expect((await channel()).default_push_notifications).toBe(false);
      expect(await own('member')).toMatchObject({
        push_notifications: null,
        default_push_notifications: false,
      });
    });

    it('can be set only by administrators, and is published to users who can see the channel', async () => {
      const administers = { new: { direct_members: [organisation.id('member')], direct_subgroups: [] } };
      await organisation.do('owner', 'PATCH', `streams/${id}`, { can_administer_channel_group: administers });
      const wish = { default_push_notifications: true };
      const { status, body } = await organisation.ask('member', 'PATCH', `streams/${id}`, wish);
      expect([status, body.code]).toEqual([400, 'UNAUTHORIZED_PRINCIPAL']);
      const events = await organisation.watch('member', { event_types: '["stream"]' });
      await organisation.do('administrator', 'PATCH', `streams/${id}`, wish);
      // Setting the current value changes nothing, so any administrator of the channel may send it.
      await organisation.do('member', 'PATCH', `streams/${id}`, wish);
      expect(await events()).toEqual([
        {
          type: 'stream',
          op: 'update',
          stream_id: id,
          name,
          property: 'default_push_notifications',
          value: true,
        },
      ]);
      expect((await channel()).default_push_notifications).toBe(true);
    });

    it('applies only to first subscriptions, not to current or returning subscribers', async () => {
      await organisation.do('administrator', 'PATCH', `streams/${id}`, { default_push_notifications: true });
      expect((await own('member'))?.push_notifications).toBeNull();
      await join('second');
      expect((await own('second'))?.push_notifications).toBe(true);
      await organisation.do('second', 'POST', `${subscriptions}/properties`, {
        subscription_data: [{ stream_id: id, property: 'push_notifications', value: false }],
      });
      await organisation.do('second', 'DELETE', subscriptions, { subscriptions: [name] });
      await join('second');
      expect((await own('second'))?.push_notifications).toBe(false);
    });

    it('can be set when an administrator creates the channel, and then applies to the creator', async () => {
      const made = organisation.newName();
      const wish = { subscriptions: [{ name: made }], default_push_notifications: true };
      const { status, body } = await organisation.ask('member', 'POST', subscriptions, wish);
      expect([status, body.code]).toEqual([400, 'UNAUTHORIZED_PRINCIPAL']);
      await organisation.do('administrator', 'POST', subscriptions, wish);
      expect((await channel(await idOf(made))).default_push_notifications).toBe(true);
      expect((await own('administrator', made))?.push_notifications).toBe(true);
    });
  });
});
