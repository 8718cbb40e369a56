import { beforeAll, describe, expect, it } from 'vitest';
import { eachBackend } from '../../../support/test-databases.js';
import { addChannel } from '../messages/chat-under-test.js';
import { sharedOrganisation } from '../organisation-under-test.js';

const path = 'invites/multiuse';
let people = 0;

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend, { invitationValidityMinutes: 90 });
  type Who = Parameters<typeof organisation.ask>[0];
  let defaultId: number;
  beforeAll(async () => {
    const subscriptions = [{ name: 'lobby' }];
    await organisation.do('owner', 'POST', 'users/me/subscriptions', {
      subscriptions,
      is_default_stream: true,
    });
    const { stream_id: id } = await organisation.do('owner', 'GET', 'get_stream_id', { stream: 'lobby' });
    defaultId = Number(id);
    const group = await organisation.roleGroup('members');
    await organisation.do('owner', 'PATCH', 'realm', { create_multiuse_invite_group: { new: group } });
  });

  /** Makes a user join by an invitation. Returns the user and the user's channels. */
  async function joined(who: Who, wish: Record<string, unknown>) {
    const { invite_link: link } = await organisation.do(who, 'POST', path, wish);
    people += 1;
    const email = `invited${people}@example.com`;
    const { statusCode } = await organisation.server.server.app.inject({
      method: 'POST',
      url: new URL(String(link)).pathname,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: new URLSearchParams({
        full_name: `Invited ${people}`,
        email,
        password: 'correct horse',
      }).toString(),
    });
    expect(statusCode).toBe(303);
    const { members } = await organisation.do('owner', 'GET', 'users');
    const user = (members as { user_id: number; role: number; delivery_email: string }[]).find(
      (each) => each.delivery_email === email,
    );
    const { db } = organisation.server.server.database;
    const rows = await db
      .selectFrom('subscriptions')
      .select('channel_id')
      .where('user_id', '=', (user?.user_id ?? 0) as never)
      .where('is_active', '=', 1)
      .orderBy('channel_id')
      .execute();
    return { user, channels: rows.map(({ channel_id }) => channel_id) };
  }

  it('creating an invitation returns a link below the server’s URL, result and msg', async () => {
    expect(await organisation.do('owner', 'POST', path)).toEqual({
      result: 'success',
      msg: '',
      invite_link: expect.stringMatching(/^https:\/\/chat\.example\.com\/join\/\w+\/$/),
    });
  });

  it('an invitation without a requested lifetime has the default lifetime of the server’s settings', async () => {
    await organisation.do('owner', 'POST', path);
    const { invites } = await organisation.do('owner', 'GET', 'invites');
    const [last] = (invites as { expiry_date: number; invited: number }[]).slice(-1);
    expect((last?.expiry_date ?? 0) - (last?.invited ?? 0)).toBe(90 * 60);
  });

  describe('a user who joins', () => {
    it('is in the channels of the invitation, and in default channels only if requested', async () => {
      const { id } = await addChannel(organisation, { members: ['owner'] });
      const bothIds = [defaultId, id].sort((a, b) => a - b);
      expect((await joined('owner', {})).channels).toEqual([]);
      expect((await joined('owner', { stream_ids: [id] })).channels).toEqual([id]);
      const withDefaults = { include_realm_default_subscriptions: true };
      expect((await joined('owner', withDefaults)).channels).toEqual([defaultId]);
      expect((await joined('owner', { ...withDefaults, stream_ids: [id] })).channels).toEqual(bothIds);
      expect((await joined('owner', { stream_ids: bothIds })).channels).toEqual(bothIds);
    });

    it('is a member by default, and never has a higher role than the inviter', async () => {
      expect((await joined('owner', {})).user?.role).toBe(400);
      for (const role of [100, 200, 300, 600])
        expect((await joined('owner', { invite_as: role })).user?.role).toBe(role);
      expect((await joined('member', {})).user?.role).toBe(400);
      for (const role of [100, 200, 300]) {
        const { body } = await organisation.ask('member', 'POST', path, { invite_as: role });
        expect([role, body.result]).toEqual([role, 'error']);
      }
    });

    it('is in default channels even if the inviter may not add subscribers and therefore names no channels', async () => {
      const group = await organisation.roleGroup('administrators');
      const members = await organisation.roleGroup('members');
      await organisation.do('owner', 'PATCH', 'realm', { can_add_subscribers_group: { new: group } });
      const { id } = await addChannel(organisation);
      const withDefaults = { include_realm_default_subscriptions: true };
      expect((await joined('member', withDefaults)).channels).toEqual([defaultId]);
      for (const stream_ids of [[id], [id, defaultId]]) {
        const { body } = await organisation.ask('member', 'POST', path, { ...withDefaults, stream_ids });
        expect([body.code, body.msg]).toEqual([
          ...['BAD_REQUEST', 'You do not have permission to subscribe other users to channels.'],
        ]);
      }
      await organisation.do('owner', 'PATCH', 'realm', { can_add_subscribers_group: { new: members } });
    });
  });

  it('an invitation may name only channels that the inviter can read, even if an administrator can see more', async () => {
    const hidden = await addChannel(organisation, { isPrivate: true, members: ['second'] });
    for (const who of ['member', 'administrator', 'owner'] as const) {
      for (const id of [hidden.id, 999_999]) {
        const { body } = await organisation.ask(who, 'POST', path, { stream_ids: [id] });
        expect([body.code, body.msg]).toEqual([
          ...['BAD_REQUEST', `Invalid channel ID ${id}. No invites were sent.`],
        ]);
      }
    }
  });
});
