import { sql } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { forgetOldActs } from '#relay/acts/act-store.js';
import { type Act, recordAct } from '#relay/acts/record-act.js';
import { BreakerStore } from '#relay/deliveries/breakers/breaker-store.js';
import { eachBackend } from '../../../support/test-databases.js';
import { runRelayCommand } from '../command-line-under-test.js';
import { type DashboardUnderTest, startDashboard } from './dashboard-under-test.js';

interface Entry {
  readonly id: string;
  readonly actor: string;
  readonly action: string;
  readonly subject: string;
  readonly detail: string;
}

eachBackend((backend) => {
  let dashboard: DashboardUnderTest;
  let cookie: string;
  let databaseUrl: string;
  beforeEach(async () => {
    databaseUrl = await backend.freshUrl();
    dashboard = await startDashboard(databaseUrl);
    cookie = await dashboard.session();
  });
  afterEach(() => dashboard.close());

  const audit = async (query = '') =>
    (await dashboard.ask('GET', `/admin/api/audit${query}`, { cookie })).json();
  const acts = async () =>
    ((await audit()).entries as Entry[])
      .map(({ actor, action, subject }) => `${actor}: ${action} ${subject}`)
      .reverse();
  const post = async (path: string, payload: object = {}) =>
    (await dashboard.ask('POST', `/admin/api/${path}`, { cookie, payload })).statusCode;

  it('lists dashboard actions, except those that were refused or changed nothing', async () => {
    const { database, server, time } = dashboard.relay;
    const { serverId } = server;
    const at = time.now;
    await new BreakerStore(database).open({ app: 'fcm:a', kind: 'deletion', reason: 'r', at });
    await database.write(({ db }) =>
      sql`insert into dead_jobs (id, kind, payload, created_at, give_up_at, attempts, reason, died_at)
        values ('101', 'former-kind', '{}', ${at}, ${at}, 1, 'no', ${at})`.execute(db),
    );
    expect(await post(`servers/${serverId}/suspend`)).toBe(200);
    expect(await post(`servers/${serverId}/suspend`)).toBe(200);
    expect(await post('servers/00000000-0000-4000-8000-000000000000/suspend')).toBe(409);
    expect(await post(`servers/${serverId}/resume`)).toBe(200);
    expect(await post('servers/invitations', { hostname: 'chat.example.org' })).toBe(200);
    expect(await post('deliveries/frozen/thaw', { app_id: 'fcm:a' })).toBe(204);
    expect(await post('deliveries/frozen/thaw', { app_id: 'fcm:a' })).toBe(409);
    expect(await post('deliveries/dead/101/retry')).toBe(204);
    expect(await post('deliveries/dead/101/retry')).toBe(409);
    expect(await post('keys/rotate')).toBe(200);
    expect(await acts()).toEqual([
      `dashboard: servers suspend ${serverId}`,
      `dashboard: servers resume ${serverId}`,
      'dashboard: servers invite chat.example.org',
      'dashboard: apps confirm-deletions fcm:a',
      'dashboard: queue retry 101',
      'dashboard: keys rotate key ring',
    ]);
    expect((await audit()).entries[0]).toMatchObject({ at: time.now, id: expect.any(String) });
  });

  it('lists actions of commands', async () => {
    const environment = { ...dashboard.relay.ring.environment, RELAY_DATABASE: databaseUrl };
    const serverId = '7d3f5a58-52f0-4a4b-9d0b-0c6bb1b0ad0e';
    const realm = '1f4c8f0e-7c07-44a5-8c0c-0a7ec2f3b9ad';
    const run = async (...argv: string[]) => {
      const { status, stderr } = await runRelayCommand(argv, { environment });
      expect(status, stderr).toBe(0);
    };
    await run('servers', 'add', '--realm', realm, '--server-id', serverId, '--name', 'New');
    await run('servers', 'rename', serverId, 'Newer');
    await run('servers', 'suspend', serverId, '--yes');
    await run('servers', 'resume', serverId);
    await run('servers', 'rotate-key', serverId, '--yes');
    await run('servers', 'invite', '--name', 'Next');
    await run('servers', 'remove', serverId, '--yes');
    expect(await acts()).toEqual([
      `command line: servers add ${serverId}`,
      `command line: servers rename ${serverId}`,
      `command line: servers suspend ${serverId}`,
      `command line: servers resume ${serverId}`,
      `command line: servers rotate-key ${serverId}`,
      'command line: servers invite Next',
      `command line: servers remove ${serverId}`,
    ]);
  });

  it('rolls back a change that the audit log cannot record', async () => {
    const { database, server, ring } = dashboard.relay;
    const environment = { ...ring.environment, RELAY_DATABASE: databaseUrl };
    await database.write(({ db }) => sql`alter table operator_acts rename to other_acts`.execute(db));
    const servers = () => database.db.selectFrom('servers').select(['id', 'name', 'suspended_at']).execute();
    const before = await servers();
    for (const argv of [
      ['rename', server.serverId, 'Newer'],
      ['suspend', server.serverId],
      ['remove', server.serverId],
    ]) {
      const yes = argv[0] === 'rename' ? [] : ['--yes'];
      const { status } = await runRelayCommand(['servers', ...argv, ...yes], { environment });
      expect([argv[0], status, await servers()]).toEqual([argv[0], 1, before]);
    }
  });

  it('shows pages with the newest action first, and keeps the last 10,000 actions', async () => {
    const { database } = dashboard.relay;
    const act = (subject: string): Act => {
      return { actor: 'command line', action: 'a', subject, detail: 'x'.repeat(600), at: 1 };
    };
    for (const subject of ['1', '2', '3']) {
      await database.write((transaction) => recordAct(transaction, act(subject)));
    }
    const first = await audit('?limit=2');
    expect(first.entries.map(({ subject }: Entry) => subject)).toEqual(['3', '2']);
    expect(first.entries[0].detail).toHaveLength(500);
    const second = await audit(`?limit=2&after=${first.next}`);
    expect(second.entries.map(({ subject }: Entry) => subject)).toEqual(['1']);
    expect(second.next).toBeUndefined();
    expect(await forgetOldActs(database)).toBe(0);
    await database.write(({ db }) =>
      sql`insert into operator_acts (at, actor, action, subject, detail)
        with recursive counted (number) as (select 1 union all select number + 1 from counted where number < 9999)
        select 2, 'a', 'b', 'c', '' from counted`.execute(db),
    );
    expect(await forgetOldActs(database)).toBe(2);
    expect(await forgetOldActs(database)).toBe(0);
  });

  it('records an action even if its strings contain characters that a database cannot store', async () => {
    const detail = `${'x'.repeat(499)}\u{1f426}`;
    const act: Act = { actor: 'dashboard', action: 'a', subject: 'a\0b\ud800c\u{1f426}', detail, at: 1 };
    await dashboard.relay.database.write((transaction) => recordAct(transaction, act));
    expect((await audit()).entries).toMatchObject([
      { subject: 'a\ufffdb\ufffdc\u{1f426}', detail: `${'x'.repeat(499)}\ufffd` },
    ]);
  });

  it('rejects invalid input and requests without a session', async () => {
    for (const query of ['?after=x', '?after=0', '?limit=0', '?limit=201']) {
      expect((await audit(query)).code, query).toBe('BAD_REQUEST');
    }
    expect((await dashboard.ask('GET', '/admin/api/audit')).json().code).toBe('ADMIN_SESSION_REQUIRED');
  });
});
