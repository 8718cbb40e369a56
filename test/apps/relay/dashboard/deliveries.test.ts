import { sql } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { BreakerStore } from '#relay/deliveries/breakers/breaker-store.js';
import { eachBackend } from '../../../support/test-databases.js';
import { realmUuid } from '../relay-under-test.js';
import { type DashboardUnderTest, startDashboard } from './dashboard-under-test.js';

eachBackend((backend) => {
  let dashboard: DashboardUnderTest;
  let cookie: string;
  beforeEach(async () => {
    dashboard = await startDashboard(await backend.freshUrl());
    cookie = await dashboard.session();
  });
  afterEach(() => dashboard.close());

  const get = async (path: string) =>
    (await dashboard.ask('GET', `/admin/api/deliveries/${path}`, { cookie })).json();
  const post = (path: string, payload: object = {}) =>
    dashboard.ask('POST', `/admin/api/deliveries/${path}`, { cookie, payload });

  async function addDeadLetters(): Promise<void> {
    const { database, server, time } = dashboard.relay;
    const payload = JSON.stringify({ serverId: server.serverId, encryptedData: 'never-shown' });
    for (const id of ['101', '102', '103']) {
      await database.write(({ db }) =>
        sql`insert into dead_jobs (id, kind, payload, created_at, give_up_at, attempts, reason, died_at)
          values (${id}, 'former-kind', ${payload}, ${time.now}, ${time.now + 5000}, 3, 'UNAVAILABLE', ${time.now + 4000})`.execute(
          db,
        ),
      );
    }
  }

  it('lists pages of dead letters with their reasons, but without their content', async () => {
    await addDeadLetters();
    const { server, time } = dashboard.relay;
    const all = await get('dead');
    expect(all).toMatchObject({ total: 3 });
    expect(all.next).toBeUndefined();
    expect(all.dead[0]).toEqual({
      id: '101',
      kind: 'former-kind',
      reason: 'UNAVAILABLE',
      server: server.serverId,
      attempts: 3,
      died_at: time.now + 4000,
    });
    expect(JSON.stringify(all)).not.toContain('never-shown');
    const first = await get('dead?limit=2');
    expect(first.dead.map(({ id }: { id: string }) => id)).toEqual(['101', '102']);
    const second = await get(`dead?limit=2&after=${first.next}`);
    expect(second.dead.map(({ id }: { id: string }) => id)).toEqual(['103']);
    expect(second.next).toBeUndefined();
  });

  it('retries a dead letter once', async () => {
    await addDeadLetters();
    expect((await post('dead/102/retry')).statusCode).toBe(204);
    expect((await get('dead')).dead.map(({ id }: { id: string }) => id)).toEqual(['101', '103']);
    expect(await dashboard.relay.database.jobs.list({ kind: 'former-kind', state: 'due' })).toHaveLength(1);
    const again = await post('dead/102/retry');
    expect([again.statusCode, again.json().msg]).toEqual([
      409,
      'There is no dead letter 102: it was already retried or dropped.',
    ]);
  });

  it('shows frozen deletions, and thaws them', async () => {
    const { database, time } = dashboard.relay;
    const store = new BreakerStore(database);
    const app = 'fcm:our-app';
    const at = time.now;
    await store.open({ app, kind: 'deletion', scope: `realm ${realmUuid}`, reason: '9 of 10 dead', at });
    await store.open({ app, kind: 'deletion', reason: '50 of 90 dead', at: at + 1000 });
    await store.open({ app, kind: 'credential', reason: 'refused', at });
    expect((await get('frozen')).frozen).toEqual([
      {
        app_id: app,
        vendor: 'fcm',
        since: at,
        held: 0,
        explanation: `all: 50 of 90 dead; realm ${realmUuid}: 9 of 10 dead`,
      },
    ]);
    expect((await post('frozen/thaw', { app_id: app })).statusCode).toBe(204);
    expect((await get('frozen')).frozen).toEqual([]);
    const again = await post('frozen/thaw', { app_id: app });
    expect([again.statusCode, again.json().msg]).toEqual([
      409,
      'The deletions of "fcm:our-app" are not frozen.',
    ]);
  });

  it('rejects invalid input, requests without a session, and requests from other sites', async () => {
    for (const path of [
      'dead?limit=201',
      'dead?after=1',
      'dead?after=x_1',
      'dead?after=1_abc',
      'dead?after=1_-1',
    ]) {
      expect((await get(path)).code, path).toBe('BAD_REQUEST');
    }
    expect((await post('dead/x/retry')).json().code).toBe('BAD_REQUEST');
    for (const app of ['x'.repeat(301), 'an\0app', 'an app\ud800']) {
      expect((await post('frozen/thaw', { app_id: app })).json().code).toBe('BAD_REQUEST');
    }
    for (const path of ['dead', 'frozen']) {
      expect((await dashboard.ask('GET', `/admin/api/deliveries/${path}`)).statusCode).toBe(401);
    }
    for (const path of ['dead/101/retry', 'frozen/thaw']) {
      const url = `/admin/api/deliveries/${path}`;
      expect((await dashboard.ask('POST', url)).statusCode).toBe(401);
      const headers = { 'sec-fetch-site': 'cross-site' };
      expect((await dashboard.ask('POST', url, { cookie, headers })).statusCode).toBe(403);
    }
  });
});
