import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { userId } from '../../support/ids.js';
import { registered } from '../../support/relay-stand-in.js';
import { commandsUnderTest } from './commands-under-test.js';
import { type Account, ServerUnderTest, testPhone } from './server-under-test.js';

let test: ServerUnderTest;
beforeEach(async () => {
  test = await ServerUnderTest.start();
});
afterEach(() => test.close());

const { run, runJson } = commandsUnderTest(() => test);

function account(added: Record<string, unknown>): Account {
  const [email, apiKey] = [String(added.email), String(added.api_key)];
  const authorization = `Basic ${Buffer.from(`${email}:${apiKey}`).toString('base64')}`;
  return { userId: userId(Number(added.user_id)), email, apiKey, authorization };
}

const statusOf = async (who: Account) => (await test.ask(who, 'POST', 'register')).status;

describe('users add', () => {
  it('adds a user while the server runs, and the printed key works immediately', async () => {
    const added = await runJson('users add --email Ada@Example.com --name Ada --role owner');
    expect(added).toEqual({
      user_id: expect.any(Number),
      email: 'Ada@Example.com',
      full_name: 'Ada',
      role: 100,
      is_bot: false,
      api_key: expect.stringMatching(/^[A-Za-z0-9]{32}$/),
    });
    expect(await statusOf(account(added))).toBe(200);
    expect(await statusOf(account({ ...added, email: 'ada@EXAMPLE.com' }))).toBe(200);
    expect(test.databaseBytes().toString('latin1')).not.toContain(added.api_key);
  });

  it.each([
    ['owner', 100],
    ['administrator', 200],
    ['moderator', 300],
    ['member', 400],
    ['guest', 600],
  ])('stores the role %s as %i', async (role, number) => {
    expect((await runJson(`users add --email a@example.com --role ${role}`)).role).toBe(number);
  });

  it('adds bots that belong to a user', async () => {
    const owner = await runJson('users add --email ada@example.com');
    const bot = await runJson('users add --email bot@example.com --bot --owner ada@example.com');
    expect(bot).toMatchObject({ is_bot: true, bot_owner_id: owner.user_id, role: 400 });
    const refusal = await run('users add --email b2@example.com --bot --owner bot@example.com');
    expect([refusal.code, refusal.said]).toEqual([1, expect.stringContaining('is a bot')]);
  });

  it.each([
    ['users add --email not-an-address', 'is not a valid e-mail address'],
    ['users add --email a,b@example.com', 'is not a valid e-mail address'],
    [`users add --email a@example.com --name ${'n'.repeat(101)}`, 'The maximum is 100 characters'],
    ['users add --email a@example.com --name a*b', 'Invalid characters in name'],
    ['users add --email a@example.com --name a|1', 'Invalid format'],
    ['users add --email user1@hidden.invalid', 'not a valid e-mail address for a user'],
    ['users add --email a@example.com --name Notification.Bot', 'reserved for the server'],
    ['users add --email Welcome-Bot@example.com', 'reserved for the server'],
    ['users add --email аda@example.com', 'characters that are invisible or look like others'],
    ['users add --email a@example.com --owner ada@example.com', 'Only bots have owners'],
    ['users add --email a@example.com --bot --owner nobody@example.com', 'There is no user'],
    [
      'users add --email ADA@example.com',
      'address ada@example.com already exists: choose another address, or run "waxwing-server users rotate-key ada@example.com"',
    ],
    ['users add --email a@example.com --role king', 'king', 2],
    ['users add', '--email', 2],
  ])('explains what is wrong with %s, and changes nothing', async (command, sentence, status = 1) => {
    await runJson('users add --email ada@example.com');
    const { code, printed, said } = await run(command);
    expect([code, printed]).toEqual([status, '']);
    expect(said).toContain(sentence);
    expect((await runJson('users list')).users).toHaveLength(1);
  });
});

describe('users set', () => {
  it('grants and revokes the right to change the addresses of other users', async () => {
    const owner = account(await runJson('users add --email ada@example.com --role owner'));
    const other = await test.addAccount('bob@example.com');
    const change = async (email: string) =>
      (await test.ask(owner, 'PATCH', `users/${other.userId}`, { new_email: email })).status;
    expect(await change('b@example.com')).toBe(400);
    expect(await runJson('users set ada@example.com --can-change-user-emails yes')).toMatchObject({
      user_id: owner.userId,
      can_change_user_emails: true,
    });
    expect(await change('b@example.com')).toBe(200);
    const { printed } = await run('users set ada@example.com --can-change-user-emails no');
    expect(printed).toMatch(/^ada@example\.com may not change other users' e-mail addresses\.\nDatabase: /);
    expect(await change('c@example.com')).toBe(400);
  });

  it('refuses an unknown user, and lists the options when none is given', async () => {
    const unknown = await run('users set eve@example.com --can-change-user-emails yes');
    expect([unknown.code, unknown.said]).toEqual([1, expect.stringContaining('no user with the address')]);
    const nothing = await run('users set ada@example.com');
    expect([nothing.code, nothing.said]).toEqual([2, expect.stringContaining('--can-change-user-emails')]);
  });
});

describe('users set-password', () => {
  const signIn = (username: string, password: string) =>
    test.ask(undefined, 'POST', 'fetch_api_key', { username, password });

  it('lets a user sign in with the typed password, which is never shown', async () => {
    const { user_id } = await runJson('users add --email ada@example.com');
    const { code, printed, said } = await run(
      'users set-password ADA@example.com',
      undefined,
      'eight or more',
    );
    expect([code, said]).toEqual([0, '']);
    expect(printed).toContain(
      'Set the password of ada@example.com. Devices that were signed in with the old password must sign in again.\n',
    );
    expect((await signIn('ada@example.com', 'eight or more')).body.user_id).toBe(user_id);
    expect(test.databaseBytes().toString('latin1')).not.toContain('eight or more');
  });

  it.each([
    ['seven77', 'A password must have 8 to 100 characters'],
    ['', 'A password must have 8 to 100 characters'],
    ['x'.repeat(101), 'A password must have 8 to 100 characters'],
  ])('refuses the password "%s"', async (typed, sentence) => {
    await runJson('users add --email ada@example.com');
    const { code, said } = await run('users set-password ada@example.com', undefined, typed);
    expect([code, said]).toEqual([1, expect.stringContaining(sentence)]);
    expect((await signIn('ada@example.com', typed)).status).not.toBe(200);
  });

  it('refuses unknown users and bots, and does not accept a password as an argument', async () => {
    await runJson('users add --email bot@example.com --bot');
    const bot = await run('users set-password bot@example.com', undefined, 'eight or more');
    expect([bot.code, bot.said]).toEqual([1, expect.stringContaining('is a bot')]);
    const unknown = await run('users set-password eve@example.com', undefined, 'eight or more');
    expect([unknown.code, unknown.said]).toEqual([1, expect.stringContaining('no user')]);
    expect((await run('users set-password bot@example.com secretpassword')).code).toBe(2);
  });
});

describe('users rotate-key, deactivate and reactivate', () => {
  it('ask for confirmation, and do nothing when the answer is no or there is no terminal', async () => {
    const ada = account(await runJson('users add --email ada@example.com'));
    for (const command of ['rotate-key', 'deactivate']) {
      for (const answer of [false, undefined]) {
        const { code, asked, said } = await run(`users ${command} ada@example.com`, answer);
        expect([code, asked]).toEqual([1, [expect.stringContaining('ada@example.com')]]);
        expect(said).toContain(answer === undefined ? '--yes' : 'Nothing was changed');
      }
    }
    expect(await statusOf(ada)).toBe(200);
    expect((await run('users rotate-key --email ada@example.com', true)).code).toBe(0);
    expect(await statusOf(ada)).toBe(401);
  });

  it('report an unknown user', async () => {
    for (const command of ['rotate-key', 'deactivate']) {
      const { code, said } = await run(`users ${command} nobody@example.com --yes`);
      expect([code, said]).toEqual([1, expect.stringContaining('There is no user')]);
    }
  });

  it('a new key replaces the old key and removes all devices, even during the forwarding of a registration', async () => {
    const old = await runJson('users add --email ada@example.com');
    test.relay.next(registered(1), { status: 503 });
    test.relay.otherwise(registered(2));
    for (const id of ['1', '2']) {
      await test.register(account(old), testPhone(id).fields);
      await test.settle();
    }
    const rotated = await runJson('users rotate-key ADA@example.com --yes');
    expect(rotated).toMatchObject({ user_id: old.user_id, email: 'ada@example.com' });
    expect(rotated.api_key).not.toBe(old.api_key);
    expect(await statusOf(account(old))).toBe(401);
    expect(await test.pushDevices(account(rotated))).toEqual({});
    const asked = test.relay.requests.length;
    test.now += 3_600_000;
    await test.settle();
    expect(test.relay.requests).toHaveLength(asked);
    expect(await test.pushDevices(account(rotated))).toEqual({});
  });

  it('a deactivated user loses its devices, queues and bots, and its address becomes free', async () => {
    const ada = await runJson('users add --email ada@example.com');
    const bot = await runJson('users add --email bot@example.com --bot --owner ada@example.com');
    test.relay.otherwise(registered(1));
    await test.register(account(ada), testPhone('1').fields);
    await test.settle();
    await test.openQueue(account(bot));
    const removed = await runJson('users deactivate ada@example.com --yes');
    expect(removed).toEqual({
      deactivated_user_ids: [ada.user_id, bot.user_id],
      revoked_invitations: 0,
    });
    for (const gone of [ada, bot]) {
      const answer = await test.ask(account(gone), 'POST', 'register');
      expect([answer.status, answer.body.code]).toEqual([401, 'INVALID_API_KEY']);
    }
    const { db } = test.server.database;
    expect(await db.selectFrom('push_devices').selectAll().execute()).toEqual([]);
    expect(await db.selectFrom('event_queues').selectAll().execute()).toEqual([]);
    const again = await runJson('users add --email ada@example.com');
    expect(again.user_id).not.toBe(ada.user_id);
    expect(await test.pushDevices(account(again))).toEqual({});
  });
});

describe('users reactivate', () => {
  it('restores a user unchanged, with a new key', async () => {
    const ada = await runJson('users add --email ada@example.com --name Ada');
    await runJson('users remove ada@example.com --yes');
    const back = await runJson('users reactivate ADA@example.com');
    expect(back).toMatchObject({ user_id: ada.user_id, full_name: 'Ada' });
    expect([await statusOf(account(ada)), await statusOf(account(back))]).toEqual([401, 200]);
  });

  it('reports an unknown user, and an address that another user has taken', async () => {
    const unknown = await run('users reactivate nobody@example.com');
    expect([unknown.code, unknown.said]).toEqual([1, expect.stringContaining('no deactivated user')]);
    await runJson('users add --email ada@example.com');
    await runJson('users deactivate ada@example.com --yes');
    await runJson('users add --email ada@example.com');
    const taken = await run('users reactivate ada@example.com');
    expect([taken.code, taken.said]).toEqual([
      1,
      expect.stringContaining('Another user has the same e-mail'),
    ]);
  });

  it('the only owner cannot be deactivated', async () => {
    await runJson('users add --email owner@example.com --role owner');
    const refused = await run('users deactivate owner@example.com --yes');
    expect([refused.code, refused.said]).toEqual([1, expect.stringContaining('only organization owner')]);
  });
});

describe('realm show', () => {
  it('prints the UUID of the database, which never changes', async () => {
    const { realm_uuid: uuid, ...rest } = await runJson('realm show');
    expect(uuid).toBe(test.server.realmUuid);
    expect(uuid).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(rest).toEqual({ realm_name: 'Example', realm_url: 'http://127.0.0.1:8310' });
    await test.stop();
    await test.boot();
    expect((await runJson('realm show')).realm_uuid).toBe(uuid);
    expect((await run('realm show')).printed).toContain(String(uuid));
  });
});

describe('push status', () => {
  it('reports that no relay is configured, and which variables to set', async () => {
    const { code, printed } = await run('push status --json');
    expect([code, JSON.parse(printed)[0]]).toMatchObject([1, { check: 'configuration', ok: false }]);
    expect((await run('push status')).printed).toContain('SERVER_RELAY_URL');
  });
});

describe('an unknown command', () => {
  it('exits with code 2 and a hint', async () => {
    expect(await run('users frobnicate')).toMatchObject({
      code: 2,
      said: expect.stringContaining('frobnicate'),
    });
  });
});
