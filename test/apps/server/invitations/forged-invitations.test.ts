import { describe, expect, it } from 'vitest';
import { eachBackend } from '../../../support/test-databases.js';
import { ChannelUnderTest } from '../channel-administration/channel-under-test.js';
import { addChannel } from '../messages/chat-under-test.js';
import { post } from '../messages/edit/moves-under-test.js';
import { sharedOrganisation } from '../organisation-under-test.js';

let people = 0;

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);

  async function join(link: unknown, more: Record<string, string> = {}) {
    people += 1;
    const email = `joins${people}@example.com`;
    const fields = { full_name: `Joins ${people}`, email, password: 'correct horse', ...more };
    const { statusCode } = await organisation.server.server.app.inject({
      method: 'POST',
      url: new URL(String(link)).pathname,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: new URLSearchParams(fields).toString(),
    });
    const { members } = await organisation.do('owner', 'GET', 'users');
    const users = members as { user_id: number; role: number; delivery_email: string }[];
    return { statusCode, email, user: users.find((each) => each.delivery_email === email) };
  }
  const signIn = async (email: string) => {
    const wish = { username: email, password: 'correct horse' };
    const { body } = await organisation.server.ask(undefined, 'POST', 'fetch_api_key', wish);
    return `Basic ${Buffer.from(`${email}:${body.api_key}`).toString('base64')}`;
  };

  it('extra fields in the join form do not grant a role, channels or groups', async () => {
    const { id } = await addChannel(organisation, { isPrivate: true, members: ['owner'] });
    const { invite_link: link } = await organisation.do('owner', 'POST', 'invites/multiuse', {
      invite_as: 600,
    });
    const more = { role: '100', invite_as: '100', stream_ids: `[${id}]`, group_ids: '[1]', is_owner: 'true' };
    const { user } = await join(link, more);
    expect(user?.role).toBe(600);
    const rows = await organisation.server.server.database.db
      .selectFrom('subscriptions')
      .select('user_id')
      .where('channel_id', '=', id)
      .execute();
    expect(rows.map(({ user_id }) => user_id)).toEqual([organisation.id('owner')]);
  });

  it('guests and bots cannot create an invitation, even if they are in a permitted group', async () => {
    const members = [organisation.id('guest'), organisation.id('bot'), organisation.id('member')];
    await organisation.do('owner', 'PATCH', 'realm', {
      create_multiuse_invite_group: { new: { direct_members: members, direct_subgroups: [] } },
    });
    for (const who of ['guest', 'bot'] as const) {
      const { status, body } = await organisation.ask(who, 'POST', 'invites/multiuse');
      expect([who, status, body.code]).toEqual([who, 400, 'BAD_REQUEST']);
    }
    await organisation.do('member', 'POST', 'invites/multiuse');
    const group = await organisation.roleGroup('administrators');
    await organisation.do('owner', 'PATCH', 'realm', { create_multiuse_invite_group: { new: group } });
  });

  describe('an invitation into a private channel with protected history', () => {
    it('does not let a new user read earlier messages', async () => {
      const channel = new ChannelUnderTest(organisation);
      await channel.make('owner', { invite_only: true });
      const [before = 0] = await post(organisation, { by: 'owner', channelId: channel.id });
      const wish = { stream_ids: [channel.id] };
      const { invite_link: link } = await organisation.do('owner', 'POST', 'invites/multiuse', wish);
      const { email } = await join(link);
      const [after = 0] = await post(organisation, { by: 'owner', channelId: channel.id });
      const authorization = await signIn(email);
      const read = async (id: number) =>
        (
          await organisation.server.send({
            method: 'GET',
            url: `/api/v1/messages/${id}`,
            headers: { authorization },
          })
        ).status;
      expect([await read(before), await read(after)]).toEqual([400, 200]);
    });

    it('does not subscribe new users once the channel is archived', async () => {
      const channel = new ChannelUnderTest(organisation);
      await channel.make('owner', { invite_only: true });
      const wish = { stream_ids: [channel.id] };
      const { invite_link: link } = await organisation.do('owner', 'POST', 'invites/multiuse', wish);
      await organisation.do('owner', 'DELETE', `streams/${channel.id}`);
      const { statusCode, user } = await join(link);
      expect([statusCode, user?.role]).toEqual([303, 400]);
      const { subscribers } = await organisation.do('owner', 'GET', `streams/${channel.id}/members`);
      expect(subscribers).toEqual([organisation.id('owner')]);
    });
  });
});
