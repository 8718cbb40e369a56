import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { MinuteCounts } from '#relay/dashboard/minutes/minute-counts.js';
import { forgetOldMinutes, minuteOf } from '#relay/dashboard/minutes/minute-store.js';
import { BreakerStore } from '#relay/deliveries/breakers/breaker-store.js';
import { createMemoryLog } from '../../../support/memory-log.js';
import { eachBackend } from '../../../support/test-databases.js';
import { goodForm } from '../relay-under-test.js';
import { type DashboardUnderTest, startDashboard } from './dashboard-under-test.js';

const minute = 60_000;

eachBackend((backend) => {
  let dashboard: DashboardUnderTest;
  let cookie: string;
  beforeEach(async () => {
    dashboard = await startDashboard(await backend.freshUrl());
    cookie = await dashboard.session();
  });
  afterEach(() => dashboard.close());

  const ask = (query = '') => dashboard.ask('GET', `/admin/api/overview${query}`, { cookie });
  const overview = async (query?: string) => (await ask(query)).json();
  const secondProcess = () => {
    const { database, time } = dashboard.relay;
    return new MinuteCounts({ database, clock: () => time.now, log: createMemoryLog().log, isOn: true });
  };

  it('shows current activity both before and after the figures are stored', async () => {
    const { relay } = dashboard;
    expect((await relay.register(goodForm())).status).toBe(200);
    relay.context.minuteCounts.noteDelivered('fcm', 90);
    relay.context.minuteCounts.noteDelivered('apns', 4000);
    relay.context.minuteCounts.noteUndelivered('apns', 'retried');
    const before = await overview('?minutes=2');
    expect(before).toMatchObject({
      now: relay.time.now,
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
      started_at: relay.time.now,
      latency_ms: { p50: 100, p95: 5000, p99: 5000 },
      registrations: { servers: expect.any(Number) },
      queue: { due: 0, waiting: 0, running: 0, dead: 0, oldest_due_age_ms: null },
      minutes: {
        at: [minuteOf(relay.time.now) - 1, minuteOf(relay.time.now)].map((each) => each * minute),
        registrations: [0, 1],
      },
    });
    const outcomes = before.minutes.outcomes.filter(({ counts }: { counts: number[] }) => counts.includes(1));
    expect(outcomes).toEqual([
      { vendor: 'fcm', outcome: 'delivered', counts: [0, 1] },
      { vendor: 'apns', outcome: 'delivered', counts: [0, 1] },
      { vendor: 'apns', outcome: 'retried', counts: [0, 1] },
    ]);
    await relay.context.minuteCounts.flush();
    expect(await overview('?minutes=2')).toMatchObject({
      minutes: before.minutes,
      latency_ms: before.latency_ms,
    });
  });

  it('shows the device total of the last count, and null before the first count ends', async () => {
    const { deviceGauge } = dashboard.relay.context;
    await dashboard.relay.register(goodForm());
    await deviceGauge.count();
    expect((await overview()).registrations.devices).toBe(1);
    vi.spyOn(deviceGauge, 'total', 'get').mockReturnValue(undefined);
    expect((await overview()).registrations.devices).toBeNull();
  });

  it('adds up the figures from several processes', async () => {
    const other = secondProcess();
    other.noteRegistered(3);
    dashboard.relay.context.minuteCounts.noteRegistered(2);
    await Promise.all([other.flush(), dashboard.relay.context.minuteCounts.flush()]);
    other.noteRegistered(1);
    await other.flush();
    expect((await overview('?minutes=1')).minutes.registrations).toEqual([6]);
  });

  it('keeps figures for seven days', async () => {
    const { relay } = dashboard;
    const counts = secondProcess();
    counts.noteRegistered(1);
    await counts.flush();
    const rows = async () =>
      (await relay.database.db.selectFrom('minute_counts').selectAll().execute()).length;
    const forget = () => forgetOldMinutes(relay.database, relay.time.now, new AbortController().signal);
    relay.time.now += 7 * 24 * 60 * minute;
    expect([await forget(), await rows()]).toEqual([0, 1]);
    relay.time.now += minute;
    expect([await forget(), await rows()]).toEqual([1, 0]);
  });

  it('counts nothing while the dashboard is off', async () => {
    const { database } = dashboard.relay;
    const counts = new MinuteCounts({ database, clock: Date.now, log: createMemoryLog().log, isOn: false });
    counts.noteRegistered(1);
    expect((await counts.read(0, minuteOf(Date.now()))).size).toBe(0);
  });

  it('shows problems first, with cause and remedy', async () => {
    const { relay } = dashboard;
    const app = 'fcm:our-app';
    const at = relay.time.now;
    await new BreakerStore(relay.database).open({ app, kind: 'deletion', reason: '9 of 10 are dead', at });
    const { checks, ready } = await overview();
    expect(ready).toBe(true);
    const wrong = checks.filter(({ ok }: { ok: boolean }) => !ok);
    expect(checks.slice(0, wrong.length)).toEqual(wrong);
    expect(wrong).toEqual([
      {
        name: 'apps',
        ok: false,
        cause: 'No app is configured: every notification is rejected.',
        remedy: 'Set RELAY_APPS_FILE to the file with the credentials of your apps.',
      },
      {
        name: 'deletions',
        ok: false,
        cause: 'Unusually many tokens are dead: deletions are frozen for fcm:our-app.',
        remedy: expect.stringContaining('confirm the deletions'),
      },
    ]);
    expect(checks.map(({ name }: { name: string }) => name).sort()).toEqual([
      'apps',
      'clock',
      'database',
      'dead letters',
      'deletions',
      'files',
      'key list',
      'keys',
      'latency',
      'push services',
      'queue',
      'quotas',
      'refusals',
      'rejections',
      'vendors',
      'write-ahead log',
    ]);
  });

  it('rejects an invalid number of minutes, and requests without a session', async () => {
    for (const query of ['?minutes=0', '?minutes=1441', '?minutes=x']) {
      expect((await ask(query)).json().code, query).toBe('BAD_REQUEST');
    }
    expect((await overview('?minutes=1440')).minutes.at).toHaveLength(1440);
    expect((await dashboard.ask('GET', '/admin/api/overview')).json().code).toBe('ADMIN_SESSION_REQUIRED');
  });
});
