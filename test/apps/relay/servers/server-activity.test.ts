import { randomUUID } from 'node:crypto';
import { Metrics } from '@waxwing/service/metrics';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ServerActivity } from '#relay/servers/server-activity.js';
import { eachBackend, sqliteBackend } from '../../../support/test-databases.js';
import { runRelayCommand } from '../command-line-under-test.js';
import {
  type DeliveriesUnderTest,
  fcmRequest,
  startDeliveriesUnderTest,
} from '../deliveries/deliveries-under-test.js';
import { connectStockServer, type StockServer } from '../newer-generation/stock-server.js';
import { startRelayUnderTest } from '../relay-under-test.js';

const sqlite = sqliteBackend();

eachBackend((backend) => {
  let databaseUrl: string;
  let relay: DeliveriesUnderTest;
  let stock: StockServer;
  let serverId: string;
  beforeAll(async () => {
    databaseUrl = await backend.freshUrl();
    relay = await startDeliveriesUnderTest({ databaseUrl });
    stock = await connectStockServer(relay);
    serverId = relay.server?.serverId ?? '';
  });
  afterAll(() => relay.close());

  const run = (argv: string[], now = Date.now()) =>
    runRelayCommand(argv, { environment: { RELAY_DATABASE: databaseUrl }, clock: () => now });
  async function show(now?: number) {
    await relay.context.activity.flush();
    const { status, stdout, stderr } = await run(['servers', 'show', serverId, '--json'], now);
    expect([status, stderr]).toEqual([0, '']);
    return JSON.parse(stdout);
  }

  it('servers show prints devices by generation and vendor, deliveries, and the last seen time', async () => {
    const before = await show();
    expect(before).toMatchObject({ last_seen_at: null, last_day: { sent: 0, gone: 0, rejected: 0 } });
    const begun = Date.now();
    const older = await relay.addFcm('older');
    expect((await stock.register(stock.form('newer'))).status).toBe(200);
    await relay.addWebPush('https://push.example/subscription');
    await relay.faults([{ vendor: 'fcm', token: 'dead', reason: 'UNREGISTERED' }]);
    const dead = await relay.addFcm('dead', { registeredAt: begun - 86_400_000 });
    const { body } = await relay.notify([fcmRequest(older), fcmRequest(dead)]);
    expect(body.results.map(({ status }) => status).sort()).toEqual(['gone', 'sent']);
    const shown = await show();
    expect(shown.devices).toEqual({
      v1: { fcm: 1, apns: 0, webpush: 1 },
      v2: { fcm: 1, apns: 0, webpush: 0 },
      plaintext: { fcm: 0, apns: 0, webpush: 0 },
    });
    expect(shown.last_day).toEqual({ sent: 1, gone: 1, rejected: 0 });
    expect(Date.parse(shown.last_seen_at)).toBeGreaterThanOrEqual(begun);
    const { stdout } = await run(['servers', 'list']);
    expect(stdout).toMatch(/ 3 +│ 1 \/ 0 /);
    const { stdout: text } = await run(['servers', 'show', serverId]);
    for (const line of [
      '1 FCM, 0 APNs, 1 Web Push',
      '1 sent, 0 rejected, 1 for dead tokens',
      'quota in use',
    ]) {
      expect(text).toContain(line);
    }
  });

  it('counts are added up per hour, and excluded from last_day after a day', async () => {
    await relay.context.activity.flush();
    const before = await show();
    relay.context.activity.noteOutcome(serverId, 'rejected');
    expect((await show()).last_day.rejected).toBe(before.last_day.rejected + 1);
    const later = await show(Date.now() + 25 * 3_600_000);
    expect(later.last_day).toEqual({ sent: 0, gone: 0, rejected: 0 });
    expect(later.last_seen_at).toBe(before.last_seen_at);
  });

  it('the metrics contain the number of servers by state, but no server id', async () => {
    await relay.context.activity.flush();
    const text = await relay.metrics.text();
    expect(text).toMatch(/waxwing_servers\{state="active"\} 1\n/);
    expect(text).toMatch(/waxwing_servers\{state="suspended"\} 0\n/);
    expect(text).not.toContain(serverId);
  });

  it('servers remove deletes all data of one server, and no data of other servers', async () => {
    const other = {
      id: randomUUID(),
      name: 'other',
      key_hash: 'x',
      created_at: 1,
      hostname: 'b.example.org',
    };
    const { db } = relay.database;
    await db.insertInto('servers').values(other).execute();
    await db
      .insertInto('realms')
      .values({ uuid: randomUUID(), server_id: other.id, created_at: 1 })
      .execute();
    await db.updateTable('servers').set({ hostname: 'a.example.org' }).where('id', '=', serverId).execute();
    const invitation = { name: '', created_at: 1, expires_at: Date.now() + 60_000, server_id: null };
    const invitations = ['a.example.org', 'b.example.org'].map((hostname) => ({
      ...invitation,
      code_hash: hostname,
      hostname,
    }));
    await db.insertInto('server_invitations').values(invitations).execute();
    const { status, stdout } = await run(['servers', 'remove', serverId, '--yes', '--json']);
    expect([status, JSON.parse(stdout)]).toEqual([0, { server_id: serverId, removed_devices: 4 }]);
    const tables = [
      ...(['relay_devices', 'registration_sequences', 'presented_registrations'] as const),
      ...(['delivery_receipts', 'server_quotas', 'server_activity', 'server_challenges'] as const),
    ];
    await relay.context.activity.flush();
    for (const table of tables) {
      expect([table, await db.selectFrom(table).selectAll().execute()]).toEqual([table, []]);
    }
    expect(await db.selectFrom('servers').select('id').execute()).toEqual([{ id: other.id }]);
    expect(await db.selectFrom('realms').select('server_id').execute()).toEqual([{ server_id: other.id }]);
    const left = await db.selectFrom('server_invitations').select('hostname').execute();
    expect(left).toEqual([{ hostname: 'b.example.org' }]);
    // The removed server's key is no longer valid, and its queued notifications are not delivered.
    await expect
      .poll(async () => (await stock.register(stock.form('late'))).status, { timeout: 5000 })
      .toBe(401);
    expect(await relay.context.servers.isActive(serverId)).toBe(false);
  });
});

it('a database outage loses activity counts and logs one warning, but causes no error', async () => {
  const relay = await startRelayUnderTest(await sqlite.freshUrl());
  await relay.close();
  const { clock, database, log } = relay.context;
  const activity = new ServerActivity({ clock, database, log, metrics: new Metrics() });
  for (let minute = 0; minute < 3; minute += 1) {
    activity.noteOutcome(relay.server.serverId, 'sent');
    await activity.flush();
  }
  expect(relay.logged().match(/the activity of servers cannot be recorded/g)).toHaveLength(1);
});
