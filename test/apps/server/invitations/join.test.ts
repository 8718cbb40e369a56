import { beforeEach, describe, expect, it } from 'vitest';
import { deactivateByAddress } from '#server/membership/user-administration/change-activity.js';
import { eachBackend } from '../../../support/test-databases.js';
import { addChannel } from '../messages/chat-under-test.js';
import { sharedOrganisation } from '../organisation-under-test.js';

let people = 0;

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  let email: string;
  beforeEach(() => {
    people += 1;
    email = `person${people}@example.com`;
  });

  async function invite(wish: Record<string, unknown> = {}): Promise<string> {
    const { invite_link: link } = await organisation.do('owner', 'POST', 'invites/multiuse', wish);
    return new URL(String(link)).pathname;
  }

  const say = (fields: Record<string, string> = {}) => ({
    full_name: `Person ${people}`,
    email,
    password: 'correct horse',
    ...fields,
  });

  async function open(url: string, fields?: Record<string, string>) {
    const answer = await organisation.server.server.app.inject(
      fields === undefined
        ? { method: 'GET', url }
        : {
            method: 'POST',
            url,
            headers: { 'content-type': 'application/x-www-form-urlencoded' },
            payload: new URLSearchParams(fields).toString(),
          },
    );
    return { status: answer.statusCode, text: answer.payload, headers: answer.headers };
  }

  async function userOf(address: string): Promise<Record<string, unknown> | undefined> {
    const { members } = await organisation.do('owner', 'GET', 'users');
    return (members as Record<string, unknown>[]).find(({ delivery_email }) => delivery_email === address);
  }

  describe('a user with an invitation', () => {
    it('sees a page with labels and without scripts that other pages cannot embed', async () => {
      const { headers, status, text } = await open(await invite());
      expect(status).toBe(200);
      expect(headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'sha256-/);
      expect(headers).toMatchObject({ 'referrer-policy': 'no-referrer', 'cache-control': 'no-store' });
      expect(text).not.toMatch(/<script|\son\w+=|style="/);
      for (const name of ['full_name', 'email', 'password']) expect(text).toContain(`<label for="${name}">`);
    });

    it('becomes a user with the role, channels and groups of the invitation, and can sign in', async () => {
      const { id: channelId, name } = await addChannel(organisation, { members: ['member'] });
      const { group_id: groupId } = await organisation.do('owner', 'POST', 'user_groups/create', {
        name: organisation.newName(),
        description: '',
        members: [],
      });
      const events = await organisation.watch('member', {
        event_types: '["realm_user","subscription","user_group"]',
      });
      const link = await invite({ invite_as: 300, stream_ids: [channelId], group_ids: [groupId] });
      const joined = await open(link, say());
      expect(joined).toMatchObject({ status: 303, headers: { location: '?joined=true' }, text: '' });
      const next = await open(`${link}${joined.headers.location}`);
      expect(next).toMatchObject({ status: 200, text: expect.stringContaining('You are now a member') });
      const user = await userOf(email);
      expect(user).toMatchObject({ role: 300, full_name: `Person ${people}`, is_active: true });
      const told = (await events()) as { type: string; op: string; group_id?: number }[];
      expect(told.map(({ type, op }) => `${type} ${op}`)).toEqual(
        expect.arrayContaining(['realm_user add', 'subscription peer_add', 'user_group add_members']),
      );
      expect(told.find(({ group_id }) => group_id === groupId)).toMatchObject({
        op: 'add_members',
        user_ids: [user?.user_id],
      });
      const { body } = await organisation.server.ask(undefined, 'POST', 'fetch_api_key', {
        username: email,
        password: 'correct horse',
      });
      expect(body).toMatchObject({ result: 'success', email });
      const authorization = `Basic ${Buffer.from(`${email}:${body.api_key}`).toString('base64')}`;
      const mine = await organisation.server.send({
        method: 'GET',
        url: '/api/v1/users/me/subscriptions',
        headers: { authorization },
      });
      expect((mine.body.subscriptions as { name: string }[]).map((each) => each.name)).toEqual([name]);
      expect(organisation.server.logged.text()).not.toContain(link.split('/')[2]);
    });

    it('gets the welcome message of the invitation', async () => {
      const contentsFor = async (wish: Record<string, unknown>) => {
        people += 1;
        email = `person${people}@example.com`;
        await open(await invite(wish), say());
        const rows = await organisation.server.server.database.db
          .selectFrom('user_messages')
          .innerJoin('users', 'users.id', 'user_messages.user_id')
          .innerJoin('messages', 'messages.id', 'user_messages.message_id')
          .where('users.email', '=', email)
          .orderBy('messages.id')
          .select('messages.content')
          .execute();
        return rows.map(({ content }) => content);
      };
      const hello = 'Hello, and welcome to Example!';
      const own = await contentsFor({ welcome_message_custom_text: 'Hi ```quote\nyou```' });
      expect(own[0]).toBe(hello);
      expect(own[1]).toContain('@_*role:administrators*');
      expect(own[1]).toContain('````quote\nHi ```quote\nyou```\n````');
      expect(await contentsFor({ welcome_message_custom_text: '' })).toEqual([hello]);
      await organisation.do('owner', 'PATCH', 'realm', { welcome_message_custom_text: 'From all of us' });
      expect((await contentsFor({}))[1]).toContain('From all of us');
      expect(await contentsFor({ welcome_message_custom_text: '' })).toEqual([hello]);
    });

    it.each([
      ['a password that is too short', { password: 'short' }, '8 to 100 characters'],
      ['no address', { email: 'nobody' }, 'e-mail address'],
      ['no name', { full_name: ' ' }, 'Name'],
      ['an address in use', { email: 'member@example.com' }, 'already'],
    ])('sees an error on the page after sending %s, and is not added', async (_what, fields, words) => {
      const answer = await open(await invite(), say({ ...fields }));
      expect(answer.status).toBe(400);
      expect(answer.text).toContain('role="alert"');
      expect(answer.text.toLowerCase()).toContain(words.toLowerCase());
      expect(answer.text).toContain('Sign in with your app at <strong>https://chat.example.com</strong>');
      expect(answer.text).not.toContain('correct horse');
      expect(await userOf(email)).toBeUndefined();
    });

    it('sees their input again, escaped as text', async () => {
      const nasty = '"><script>alert(1)</script>';
      const { text } = await open(await invite(), say({ full_name: nasty, password: 'x' }));
      expect(text).not.toContain('<script');
      expect(text).toContain('&quot;&gt;&lt;script&gt;');
    });
  });

  describe('a link', () => {
    const expectNothing = async (link: string) => {
      const [seen, sent] = [await open(link), await open(link, say())];
      expect([seen.status, sent.status]).toEqual([404, 404]);
      expect(seen.text).toContain('This invitation link no longer works');
      expect(sent.text).toBe(seen.text);
      expect(await userOf(email)).toBeUndefined();
    };

    it.each([`/join/${'a'.repeat(24)}/`, '/join/x/', '/join/%00/', `/join/${'A'.repeat(24)}/`])(
      'does not work if it never existed: %s',
      async (link) => {
        if (link.includes('%00')) expect((await open(link)).status).toBe(400);
        else await expectNothing(link);
      },
    );

    it('stops working when it expires', async () => {
      const link = await invite({ invite_expires_in_minutes: 1 });
      organisation.server.now += 59_999;
      expect((await open(link)).status).toBe(200);
      organisation.server.now += 1;
      await expectNothing(link);
    });

    it('stops working when it is revoked', async () => {
      const link = await invite();
      const { invites } = await organisation.do('owner', 'GET', 'invites');
      const { id } = (invites as { id: number }[]).at(-1) ?? {};
      await organisation.do('owner', 'DELETE', `invites/multiuse/${id}`);
      await expectNothing(link);
    });

    it('stops working when its inviter is deactivated', async () => {
      const { server } = organisation.server;
      const account = await organisation.server.addAccount(`inviter${people}@example.com`, { role: 200 });
      const { body } = await organisation.server.ask(account, 'POST', 'invites/multiuse');
      const link = new URL(String(body.invite_link)).pathname;
      expect((await open(link)).status).toBe(200);
      await deactivateByAddress(server.database, () => organisation.server.now, account.email);
      await expectNothing(link);
    });
  });

  it('two concurrent joins with the same address in the link’s last minute add one user', async () => {
    const link = await invite({ invite_expires_in_minutes: 1 });
    organisation.server.now += 59_999;
    const answers = await Promise.all([open(link, say()), open(link, say({ full_name: `Other ${people}` }))]);
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 400]);
  });

  it('a user who joins under load sees a page that asks them to wait, and can join afterwards', async () => {
    const link = await invite();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        open(link, say({ email: `crowd${people}-${index}@example.com` })),
      ),
    );
    const told = answers.find(({ status }) => status === 429);
    expect(told?.headers).toMatchObject({ 'content-type': 'text/html; charset=utf-8', 'retry-after': '2' });
    expect(told?.text).toContain('<p role="alert">Wait a minute, then open the link again.');
    expect((await open(link, say())).status).toBe(303);
  });

  it('a join during a revocation succeeds or fails as a whole, and later joins fail', async () => {
    const link = await invite();
    const { invites } = await organisation.do('owner', 'GET', 'invites');
    const { id } = (invites as { id: number }[]).at(-1) ?? {};
    const [joined] = await Promise.all([
      open(link, say()),
      organisation.do('owner', 'DELETE', `invites/multiuse/${id}`),
    ]);
    expect((await userOf(email)) !== undefined).toBe(joined.status === 303);
    expect([303, 404]).toContain(joined.status);
    expect((await open(link, say({ email: `late${people}@example.com` }))).status).toBe(404);
  });
});
