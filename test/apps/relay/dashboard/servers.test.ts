import { sql } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { eachBackend } from '../../../support/test-databases.js';
import { goodForm } from '../relay-under-test.js';
import { type DashboardUnderTest, startDashboard } from './dashboard-under-test.js';

eachBackend((backend) => {
  let dashboard: DashboardUnderTest;
  let cookie: string;
  beforeEach(async () => {
    dashboard = await startDashboard(await backend.freshUrl());
    cookie = await dashboard.session();
  });
  afterEach(() => dashboard.close());

  const list = async (query = '') =>
    (await dashboard.ask('GET', `/admin/api/servers${query}`, { cookie })).json();
  const post = (path: string, payload: object = {}) =>
    dashboard.ask('POST', `/admin/api/servers${path}`, { cookie, payload });

  it('lists pages of servers with devices, quota and deliveries', async () => {
    const { relay } = dashboard;
    await relay.register(goodForm());
    await sql`insert into relay_devices (realm_id, push_account_id, token_kind, token_lookup, token, registered_at)
      select realm_id, '5', 'webpush', 'x', 'x', registered_at from relay_devices`.execute(relay.database.db);
    relay.context.activity.noteOutcome(relay.server.serverId, 'sent');
    relay.context.activity.noteOutcome(relay.server.serverId, 'rejected');
    await relay.context.activity.flush();
    const all = (await list()).servers;
    const uuids = all.map(({ uuid }: { uuid: string }) => uuid);
    expect([...uuids].sort()).toEqual([relay.server.serverId, relay.otherServer.serverId].sort());
    expect(all.find(({ name }: { name: string }) => name === 'ours')).toEqual({
      uuid: relay.server.serverId,
      name: 'ours',
      hostname: null,
      state: 'active',
      last_seen_at: relay.time.now,
      devices: 2,
      quota: { used: expect.any(Number), limit: 600_000 },
      delivered_day: 1,
      rejected_day: 1,
    });
    const first = await list('?limit=1');
    expect(first.servers.map(({ uuid }: { uuid: string }) => uuid)).toEqual([uuids[0]]);
    const second = await list(`?limit=1&after=${first.next}`);
    expect(second.servers.map(({ uuid }: { uuid: string }) => uuid)).toEqual([uuids[1]]);
    expect(second.next).toBeUndefined();
    expect((await list('?search=OTH')).servers).toMatchObject([{ name: 'other' }]);
    expect((await list('?search=nobody')).servers).toEqual([]);
  });

  it('suspends and resumes a server', async () => {
    const { relay } = dashboard;
    const id = relay.server.serverId;
    const stateOf = async () => (await list(`?search=${id}`)).servers[0].state;
    expect((await post(`/${id}/suspend`)).json()).toMatchObject({ state: 'suspended', changed: true });
    expect((await post(`/${id.toUpperCase()}/suspend`)).json()).toMatchObject({ changed: false });
    expect(await stateOf()).toBe('suspended');
    relay.time.now += 2000;
    expect((await relay.register(goodForm())).status).toBe(401);
    expect((await post(`/${id}/resume`)).json()).toMatchObject({ state: 'active', changed: true });
    expect(await stateOf()).toBe('active');
    const unknown = await post('/00000000-0000-4000-8000-000000000000/suspend');
    expect([unknown.statusCode, unknown.json().msg]).toEqual([
      409,
      expect.stringContaining('There is no server 00000000'),
    ]);
    expect((await post('/00000000-0000-4000-8000-000000000000/resume')).statusCode).toBe(409);
  });

  it('invites a server, and shows the code once', async () => {
    const { relay } = dashboard;
    const answer = (await post('/invitations', { hostname: 'Chat.Example.org' })).json();
    expect(answer).toMatchObject({ code: expect.stringMatching(/^[0-9a-f]{64}$/) });
    expect(answer.expires_at).toBe(relay.time.now + 7 * 86_400_000);
    const rows = await relay.database.db.selectFrom('server_invitations').selectAll().execute();
    expect(rows).toMatchObject([{ hostname: 'chat.example.org', name: '' }]);
    expect(JSON.stringify(rows)).not.toContain(answer.code);
    expect(relay.logged()).not.toContain(answer.code);
    expect((await post('/invitations', { name: 'New' })).statusCode).toBe(200);
    expect((await post('/invitations', { hostname: 'a b' })).json().code).toBe('BAD_REQUEST');
  });

  it('rejects invalid input, requests without a session, and requests from other sites', async () => {
    for (const query of [
      '?limit=0',
      '?limit=201',
      '?after=x',
      '?after=1_abc',
      `?search=${'x'.repeat(201)}`,
    ]) {
      expect((await list(query)).code, query).toBe('BAD_REQUEST');
    }
    for (const path of ['/x/suspend', '/x/resume'])
      expect((await post(path)).json().code).toBe('BAD_REQUEST');
    for (const fields of [{ hostname: 'x'.repeat(256) }, { name: 'a\0b' }, { name: 'a\ud800' }]) {
      expect((await post('/invitations', fields)).json().code).toBe('BAD_REQUEST');
    }
    expect((await dashboard.ask('GET', '/admin/api/servers')).statusCode).toBe(401);
    const url = `/admin/api/servers/${dashboard.relay.server.serverId}/suspend`;
    expect((await dashboard.ask('POST', url)).statusCode).toBe(401);
    const headers = { 'sec-fetch-site': 'cross-site' };
    expect((await dashboard.ask('POST', url, { cookie, headers })).statusCode).toBe(403);
  });
});
