import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { AppRoute } from '#relay/deliveries/apps/app-registry.js';
import { VendorOutages } from '#relay/deliveries/attempts/vendor-outages.js';
import { createMemoryLog } from '../../../support/memory-log.js';
import { runRelayCommand } from '../command-line-under-test.js';
import {
  apnsRequest,
  apnsToken,
  fcmRequest,
  startDeliveriesUnderTest,
  topic,
} from './deliveries-under-test.js';

const minute = 60_000;

describe('a vendor that accepts nothing for a minute', () => {
  it('is reported in the log, readiness and "apps status" until it accepts a notification', async () => {
    const time = { now: Date.now() };
    const folder = mkdtempSync(join(tmpdir(), 'waxwing-outages-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const databaseUrl = `sqlite:${join(folder, 'relay.sqlite')}`;
    const relay = await startDeliveriesUnderTest({
      databaseUrl,
      clock: () => time.now,
      timings: { delayDivisor: 1 },
      apps: ({ credentials }) => ({
        fcm: [{ service_account_file: credentials.serviceAccountFile }],
        apns: [
          {
            team_id: credentials.apnsTeamId,
            key_id: credentials.apnsKeyId,
            key_file: credentials.apnsKeyFile,
            topics: [topic],
          },
        ],
      }),
    });
    onTestFinished(() => relay.close());
    const { notify, addFcm, addApns, ready, faults, log, vendors } = relay;
    const [fcm, apns] = [await addFcm('fcm-1'), await addApns(apnsToken())];
    const fcmApp = `fcm:${vendors.credentials.fcmProjectId}`;
    const apnsApp = `apns:${topic}:production`;
    const warnings = () =>
      log
        .lines()
        .filter(({ level, app }) => level === 'warn' && app !== undefined)
        .sort((one, other) => String(one.app).localeCompare(String(other.app)));
    const both = () => notify([fcmRequest(fcm), apnsRequest(apns)]);

    await faults([
      { vendor: 'fcm', status: 503, reason: 'UNAVAILABLE' },
      { vendor: 'apns', status: 503, reason: 'ServiceUnavailable' },
    ]);
    await both();
    time.now += minute - 1;
    await both();
    expect([(await ready()).ready, warnings()]).toEqual([true, []]);
    time.now += 1;
    await both();
    await both();
    const { ready: isReady, checks } = await ready();
    expect(isReady).toBe(false);
    expect(checks.vendors).toContain(`the vendor has accepted no notification of ${fcmApp} since`);
    expect(checks.vendors).toContain(`no notification of ${apnsApp} since`);
    expect(warnings()).toMatchObject([
      { app: apnsApp, reason: 'ServiceUnavailable', msg: expect.stringContaining('developer.apple.com') },
      {
        app: fcmApp,
        reason: 'UNAVAILABLE',
        msg: expect.stringContaining('https://status.firebase.google.com'),
      },
    ]);

    const status = async () =>
      (
        await runRelayCommand(['apps', 'status'], {
          environment: { RELAY_DATABASE: databaseUrl, RELAY_APPS_FILE: join(relay.dir, 'apps.json') },
        })
      ).stdout;
    await expect.poll(status).toMatch(new RegExp(`${fcmApp} .*vendor outage .*the vendor has accepted no`));
    expect(await status()).toContain(apnsApp);

    await faults([]);
    await both();
    await expect.poll(status).toBe('No circuit breaker is open.');
    expect(await ready()).toMatchObject({ ready: true, checks: { vendors: 'ok' } });
    expect(log.text()).toContain(`the vendor accepts notifications of ${fcmApp} again`);
    expect(await relay.metrics.text()).not.toContain('waxwing_app_outage{');

    // One of the two apps fails, but the relay stays ready because the other app works.
    await faults([{ vendor: 'fcm', status: 503, reason: 'UNAVAILABLE' }]);
    await both();
    time.now += minute;
    await both();
    expect(await ready()).toMatchObject({
      ready: true,
      checks: {
        vendors: expect.stringMatching(`^warning: the vendor has accepted no notification of ${fcmApp} `),
      },
    });
    expect(await relay.metrics.text()).toContain(`waxwing_app_outage{app="${fcmApp}"} 1`);
  });

  it('is forgotten after half an hour without an attempt, or when a notification succeeds', () => {
    const { log, lines } = createMemoryLog();
    let now = 0;
    const failing: string[] = [];
    const outages = new VendorOutages({
      log,
      clock: () => now,
      onChange: (app, outage) => failing.push(`${app} ${outage !== undefined}`),
    });
    const route = { appId: 'fcm:p', vendor: 'fcm', credential: 'its key' } as AppRoute;
    const described = () => outages.troubles().map(({ sentence }) => sentence);
    const failAt = (instant: number): void => {
      now = instant;
      outages.failed(route, 'TIMED_OUT');
    };
    failAt(0);
    outages.worked(route);
    failAt(2 * minute);
    expect([described(), lines()]).toEqual([[], []]);
    failAt(3 * minute);
    expect(described()).toEqual([
      expect.stringContaining('no notification of fcm:p since 1970-01-01T00:02:00.000Z (TIMED_OUT)'),
    ]);
    now = 33 * minute;
    expect([described(), failing]).toEqual([[], ['fcm:p true', 'fcm:p false']]);
    failAt(34 * minute);
    expect([described(), lines().length]).toEqual([[], 1]);
    failAt(35 * minute);
    // The outage is forgotten even if nothing reads it before this failure.
    failAt(70 * minute);
    outages.worked(route);
    expect(failing.slice(2)).toEqual(['fcm:p true', 'fcm:p false']);
  });

  it('is reported by a review after two failures, but not after a single failure', () => {
    const { log, lines } = createMemoryLog();
    let now = 0;
    const failing: string[] = [];
    const outages = new VendorOutages({
      log,
      clock: () => now,
      onChange: (app, outage) => failing.push(`${app} ${outage !== undefined}`),
    });
    const routeOf = (appId: string) => ({ appId, vendor: 'apns', credential: 'its key' }) as AppRoute;
    const reviewAt = (instant: number): void => {
      now = instant;
      outages.review();
    };
    outages.failed(routeOf('apns:once'), 'ServiceUnavailable');
    outages.failed(routeOf('apns:twice'), 'ServiceUnavailable');
    now = 10_000;
    outages.failed(routeOf('apns:twice'), 'ServiceUnavailable');
    reviewAt(minute - 1);
    expect([failing, lines()]).toEqual([[], []]);
    reviewAt(minute);
    reviewAt(2 * minute);
    expect(failing).toEqual(['apns:twice true']);
    expect(lines()).toMatchObject([{ level: 'warn', app: 'apns:twice', reason: 'ServiceUnavailable' }]);
    outages.worked(routeOf('apns:twice'));
    expect(failing).toEqual(['apns:twice true', 'apns:twice false']);
  });

  it('is logged soon after a minute even if the next retry is 15 minutes away', async () => {
    const time = { now: Date.now() };
    const relay = await startDeliveriesUnderTest({
      clock: () => time.now,
      timings: { delayDivisor: 1, queueCountMilliseconds: 20 },
    });
    onTestFinished(() => relay.close());
    const { notify, addApns, faults, log, statistics } = relay;
    await faults([{ vendor: 'apns', status: 503, reason: 'ServiceUnavailable' }]);
    const { body } = await notify([apnsRequest(await addApns(apnsToken()))]);
    expect(body.results).toMatchObject([{ status: 'queued' }]);
    // The first retry happens after 10 to 13 seconds, the second 15 minutes later.
    time.now += 20_000;
    await expect.poll(async () => (await statistics()).faults_fired).toEqual([2]);
    time.now += 40_000;
    await expect
      .poll(() => log.lines().filter(({ level, app }) => level === 'warn' && app !== undefined))
      .toHaveLength(1);
    expect((await statistics()).faults_fired).toEqual([2]);
  });
});
