import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { dashboardRequestsTo } from '../../../support/dashboard-requests.js';
import { notified, refused, registered } from '../../../support/relay-stand-in.js';
import { eachBackend } from '../../../support/test-databases.js';
import { ServerUnderTest, testPhone } from '../server-under-test.js';

const adminToken = 'the-token-of-the-admin-of-this-server';
const minute = 60_000;

/** Creates a job that the server immediately gives up. */
async function giveUp(test: ServerUnderTest): Promise<void> {
  const { database } = test.server;
  const job = { kind: 'revocations/forward', payload: '{}', giveUpAt: test.now - 1 };
  await database.write((transaction) => database.jobs.enqueue(transaction, job));
  await expect.poll(async () => (await database.jobs.list({ state: 'dead', limit: 1 })).length).toBe(1);
}

eachBackend((backend) => {
  let server: ServerUnderTest | undefined;
  let folder = '';

  async function start() {
    folder = mkdtempSync(join(tmpdir(), 'server-dashboard-'));
    const tokenFile = join(folder, 'token');
    writeFileSync(tokenFile, `${adminToken}\n`, { mode: 0o600 });
    const dashboard = { kind: 'on', tokenFile, port: 'main' } as const;
    server = await ServerUnderTest.start({ databaseUrl: await backend.freshUrl(), dashboard });
    const requests = dashboardRequestsTo(server.server.app, adminToken);
    const cookie = await requests.session();
    const get = async (path: string) => (await requests.ask('GET', `/admin/api${path}`, { cookie })).json();
    const post = (path: string, payload: object = {}) =>
      requests.ask('POST', `/admin/api${path}`, { cookie, payload });
    return { test: server, ...requests, get, post };
  }

  afterEach(async () => {
    await server?.close();
    server = undefined;
    rmSync(folder, { recursive: true, force: true });
  });

  async function registerPhone(test: ServerUnderTest, email: string): Promise<void> {
    const account = await test.addAccount(email);
    test.relay.next(registered(41));
    expect((await test.register(account, testPhone('1').fields)).status).toBe(200);
    await test.settle();
  }

  it('the dashboard shows the relay link, devices, event queues and jobs, and no problem', async () => {
    const { test, get } = await start();
    const fresh = await get('/overview');
    expect(fresh).toMatchObject({
      now: test.now,
      ready: true,
      realm: { url: expect.stringMatching(/^http/) },
      relay: { state: 'untested', last_error: null },
      devices: [],
      event_queues: { open: 0, users: 0 },
    });
    expect(fresh.checks.filter(({ ok }: { ok: boolean }) => !ok)).toEqual([]);
    await registerPhone(test, 'ada@example.org');
    const bob = await test.addAccount('bob@example.org');
    for (const _queue of [1, 2]) await test.ask(bob, 'POST', 'register');
    expect((await get('/overview')).devices, 'counted once a minute').toEqual([]);
    test.now += minute;
    const later = await get('/overview');
    expect(later.relay).toMatchObject({ state: 'working', failing_since: null });
    expect(later.devices).toEqual([{ kind: 'fcm', active: 1, pending: 0, failed: 0 }]);
    expect(later.event_queues).toEqual({ open: 2, users: 1 });
    expect(later.jobs.map(({ kind }: { kind: string }) => kind)).toContain(
      'notifications/deliver-notification',
    );
  });

  it('the dashboard shows problems first, with cause and remedy', async () => {
    const { test, get } = await start();
    await giveUp(test);
    const { checks } = await get('/overview');
    expect(checks[0]).toEqual({
      name: 'jobs',
      ok: false,
      cause: 'The server has given up on 1 job.',
      remedy: 'Open "Jobs", read the reasons, fix the cause, then retry the jobs.',
    });
  });

  it('the dashboard keeps its last figures during a database outage, and reports the outage', async () => {
    const { test, get } = await start();
    await registerPhone(test, 'ada@example.org');
    const { devices, relay, jobs } = await get('/overview');
    await test.server.database.close();
    const later = await get('/overview');
    expect(later).toMatchObject({ ready: false, devices, relay, jobs });
    expect(later.checks[0]).toMatchObject({
      name: 'database',
      ok: false,
      remedy: expect.stringContaining('disk space and free connections, end transactions that block others'),
    });
  });

  it('the dashboard runs the same push checks as the command, and sends a test notification', async () => {
    const { test, get, post } = await start();
    test.relay.otherwise(({ path }) => (path.endsWith('/notify') ? notified() : refused(404, 'NOT_FOUND')));
    const { checks } = await get('/push');
    expect(checks[0]).toMatchObject({ name: 'configuration', ok: true, remedy: null });
    expect(checks.map(({ name }: { name: string }) => name)).toContain('devices');
    const unknown = await post('/push/test', { email: 'nobody@example.org' });
    expect([unknown.statusCode, unknown.json().msg]).toEqual([
      409,
      expect.stringContaining('There is no user with the address nobody@example.org'),
    ]);
    await test.addAccount('ada@example.org');
    expect((await post('/push/test', { email: 'ada@example.org' })).json()).toMatchObject({
      result: 'no phone is registered.',
    });
    await registerPhone(test, 'bob@example.org');
    expect((await post('/push/test', { email: 'bob@example.org' })).json().result).toMatch(/1 sent/);
    expect(test.logged.text()).toContain('sending a test notification from the dashboard');
  });

  it('the dashboard lists dead jobs, and retries them', async () => {
    const { test, get, post } = await start();
    await giveUp(test);
    const { dead } = await get('/jobs/dead');
    expect(dead).toEqual([
      {
        id: expect.stringMatching(/^\d+$/),
        kind: 'revocations/forward',
        reason: expect.any(String),
        attempts: expect.any(Number),
        died_at: test.now,
      },
    ]);
    expect((await post(`/jobs/dead/${dead[0].id}/retry`)).statusCode).toBe(204);
    expect(test.logged.text()).toContain('retried a dead job from the dashboard');
    const gone = await post('/jobs/dead/999999/retry');
    expect([gone.statusCode, gone.json().msg]).toEqual([
      409,
      'There is no dead job 999999: it has already been retried or dropped.',
    ]);
    expect((await post('/jobs/dead/x/retry')).statusCode).toBe(400);
  });

  it('the dashboard’s API requires a session, and refuses changes from pages of other sites', async () => {
    const { ask, session } = await start();
    for (const path of ['/overview', '/push', '/jobs/dead', '/events']) {
      expect((await ask('GET', `/admin/api${path}`)).json().code, path).toBe('ADMIN_SESSION_REQUIRED');
    }
    const cookie = await session();
    for (const path of ['/push/test', '/jobs/dead/1/retry']) {
      const foreign = { cookie, headers: { 'sec-fetch-site': 'cross-site' } };
      expect((await ask('POST', `/admin/api${path}`, foreign)).json().code, path).toBe(
        'ADMIN_REQUEST_FOREIGN',
      );
    }
    expect((await ask('POST', '/admin/api/session', { payload: { token: 'wrong' } })).json().code).toBe(
      'ADMIN_TOKEN_WRONG',
    );
    expect((await ask('GET', '/admin/')).headers['content-security-policy']).toContain("default-src 'none'");
  });

  it('the dashboard’s URLs return the ordinary 404 response while the dashboard is off', async () => {
    server = await ServerUnderTest.start({ databaseUrl: await backend.freshUrl() });
    for (const url of ['/admin', '/admin/', '/admin/api/overview']) {
      expect((await server.server.app.inject({ method: 'GET', url })).statusCode, url).toBe(404);
    }
  });
});
