import { roles } from '@waxwing/server';
import { beforeEach, describe, expect, it } from 'vitest';
import { eachBackend } from '../../../support/test-databases.js';
import { sharedOrganisation } from '../organisation-under-test.js';

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  type Who = Parameters<typeof organisation.ask>[0];
  let names: { open: string; closed: string };
  let ids: { open: number; closed: number };
  beforeEach(async () => {
    names = { open: organisation.newName(), closed: organisation.newName() };
    await join('member', names.open);
    await join('member', names.closed, { invite_only: true });
    const id = async (stream: string) =>
      (await organisation.do('owner', 'GET', 'get_stream_id', { stream })).stream_id as number;
    ids = { open: await id(names.open), closed: await id(names.closed) };
  });

  const join = (who: Who, name: string, fields: Record<string, unknown> = {}) =>
    organisation.do(who, 'POST', 'users/me/subscriptions', { subscriptions: [{ name }], ...fields });

  async function listed(who: Who, fields: Record<string, unknown> = {}): Promise<string[]> {
    const { streams } = await organisation.do(who, 'GET', 'streams', fields);
    const all = (streams as { name: string }[]).map(({ name }) => name);
    return all.filter((name) => Object.values(names).includes(name));
  }

  describe('the list of channels', () => {
    it('has public channels and the user’s own channels', async () => {
      expect(await listed('member')).toEqual([names.open, names.closed].sort());
      expect(await listed('second')).toEqual([names.open]);
      expect(await listed('guest')).toEqual([]);
    });

    it('has all channels that an administrator can see, if the administrator requests all channels', async () => {
      expect(await listed('administrator')).toEqual([names.open]);
      expect(await listed('administrator', { include_all: true })).toHaveLength(2);
      expect(await listed('administrator', { include_can_access_content: true })).toEqual([names.open]);
      expect(await listed('member', { include_public: false, include_subscribed: false })).toEqual([]);
    });

    it('marks default channels on request', async () => {
      const { streams } = await organisation.do('member', 'GET', 'streams', { include_default: true });
      expect(streams).toContainEqual(expect.objectContaining({ name: names.open, is_default: false }));
    });
  });

  describe('a channel', () => {
    it('is returned to users who can see it', async () => {
      const { stream } = await organisation.do('second', 'GET', `streams/${ids.open}`);
      expect(stream).toMatchObject({ stream_id: ids.open, name: names.open });
      expect((await organisation.do('owner', 'GET', `streams/${ids.closed}`)).stream).toMatchObject({
        invite_only: true,
      });
    });

    it.each([
      ['streams/ID', {}],
      ['streams/ID/members', {}],
    ])('does not exist for other users: %s', async (path) => {
      for (const id of [ids.closed, 999_999]) {
        const { status, body } = await organisation.ask('second', 'GET', path.replace('ID', String(id)));
        expect([status, body.code, body.msg]).toEqual([400, 'BAD_REQUEST', 'Invalid channel ID']);
      }
    });

    it('has no ID for users who cannot see it', async () => {
      const { status, body } = await organisation.ask('second', 'GET', 'get_stream_id', {
        stream: names.closed,
      });
      expect([status, body.msg]).toEqual([400, `Invalid channel name '${names.closed}'`]);
    });

    it('lists its subscribers', async () => {
      await join('owner', names.open);
      const { subscribers } = await organisation.do('second', 'GET', `streams/${ids.open}/members`);
      expect(subscribers).toEqual([organisation.id('owner'), organisation.id('member')]);
    });
  });

  describe('the register response', () => {
    const register = (who: Who, fields: Record<string, unknown> = {}) =>
      organisation.do(who, 'POST', 'register', fields);

    it('lists the channels that the user is subscribed to, has left, and can join', async () => {
      await join('second', names.open);
      await organisation.do('second', 'DELETE', 'users/me/subscriptions', { subscriptions: [names.open] });
      const of = async (who: Who, field: string) => {
        const list = (await register(who, { include_subscribers: true }))[field] as Record<string, unknown>[];
        return list.filter(({ name }) => Object.values(names).includes(String(name)));
      };
      expect(await of('member', 'subscriptions')).toHaveLength(2);
      expect(await of('second', 'unsubscribed')).toEqual([expect.objectContaining({ name: names.open })]);
      expect(await of('moderator', 'never_subscribed')).toEqual([
        expect.objectContaining({ name: names.open, subscribers: [organisation.id('member')] }),
      ]);
      expect(await of('guest', 'never_subscribed')).toEqual([]);
      expect(await of('second', 'streams')).toEqual([expect.objectContaining({ stream_id: ids.open })]);
    });

    it('has subscribers only on request', async () => {
      const { subscriptions } = await register('member');
      expect(subscriptions).not.toContainEqual(expect.objectContaining({ subscribers: expect.anything() }));
      const partial = await register('member', { include_subscribers: 'partial' });
      expect(partial.subscriptions).toContainEqual(
        expect.objectContaining({ subscribers: [organisation.id('member')] }),
      );
    });

    it('has folders, and default channels for all users except guests', async () => {
      await join('owner', organisation.newName(), { is_default_stream: true });
      const { channel_folders: folders, realm_default_streams: defaults } = await register('member');
      expect(folders).toEqual([]);
      expect(defaults).not.toEqual([]);
      expect((await register('guest')).realm_default_streams).toEqual([]);
    });

    it('lists the system bots, which are not users of the organization', async () => {
      const { cross_realm_bots: bots } = await register('member');
      expect(bots).toEqual([
        expect.objectContaining({ full_name: 'Notification Bot', is_system_bot: true, is_bot: true }),
        expect.objectContaining({ full_name: 'Welcome Bot', is_active: true }),
      ]);
      const { members } = await organisation.do('member', 'GET', 'users');
      const [{ user_id: id } = { user_id: 0 }] = bots as { user_id: number }[];
      expect((members as { user_id: number }[]).map(({ user_id }) => user_id)).not.toContain(id);
      expect((await organisation.ask('owner', 'GET', `users/${id}`)).status).toBe(400);
      organisation.server.now += 61 * 60_000;
      await organisation.server.settle();
      expect((await organisation.groups())['role:members']?.members).not.toContain(id);
    });
  });

  it('new users are subscribed to the default channels', async () => {
    const name = organisation.newName();
    await join('owner', name, { is_default_stream: true });
    const account = await organisation.server.addAccount('newcomer@example.com', { role: roles.member });
    const { body } = await organisation.server.ask(account, 'GET', 'users/me/subscriptions');
    expect(body.subscriptions).toContainEqual(expect.objectContaining({ name }));
  });
});
