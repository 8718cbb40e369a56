import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startVendors, type Vendors } from '@waxwing/vendors';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { registrationVectors } from '../../../support/protocol-vectors.js';
import { eachBackend } from '../../../support/test-databases.js';
import { appsFor, topic } from '../deliveries/deliveries-under-test.js';
import { type DashboardUnderTest, startDashboard } from './dashboard-under-test.js';

const dir = mkdtempSync(join(tmpdir(), 'waxwing-dashboard-apps-'));
const appsFile = join(dir, 'apps.json');
const now = registrationVectors().now * 1000;
let vendors: Vendors;
beforeAll(async () => {
  vendors = await startVendors({ dataDir: join(dir, 'vendors'), clock: () => now });
  const { fcm, apns } = appsFor(vendors);
  const apps = { fcm, apns: [{ ...apns[0], topics: [topic] }] };
  writeFileSync(appsFile, JSON.stringify(apps), { mode: 0o600 });
});
afterAll(async () => {
  await vendors.close();
  rmSync(dir, { recursive: true });
});

eachBackend((backend) => {
  let dashboard: DashboardUnderTest;
  let cookie: string;
  beforeEach(async () => {
    dashboard = await startDashboard(await backend.freshUrl(), {
      RELAY_APPS_FILE: appsFile,
      RELAY_FCM_BASE_URL: vendors.urls.fcm,
      RELAY_APNS_PRODUCTION_URL: vendors.urls.apnsProduction,
      RELAY_APNS_SANDBOX_URL: vendors.urls.apnsSandbox,
      RELAY_APNS_CA_FILE: vendors.credentials.caFile,
    });
    cookie = await dashboard.session();
  });
  afterEach(() => dashboard.close());

  const check = (app_id: string) =>
    dashboard.ask('POST', '/admin/api/apps/check', { cookie, payload: { app_id } });

  it('lists the apps with the state of each circuit breaker', async () => {
    const answer = await dashboard.ask('GET', '/admin/api/apps', { cookie });
    const untried = { last_success_at: null, breaker: 'closed' };
    expect(answer.json().apps).toEqual([
      { app_id: `fcm:${vendors.credentials.fcmProjectId}`, vendor: 'fcm', ...untried },
      { app_id: `apns:${topic}:production`, vendor: 'apns', environment: 'production', ...untried },
      { app_id: `apns:${topic}:sandbox`, vendor: 'apns', environment: 'sandbox', ...untried },
    ]);
    expect(answer.body).not.toMatch(/PRIVATE|key_file|\.p8/);
  });

  it('checks one app with its vendor', async () => {
    // The stand-in accepts every token. A real vendor would not, so the check fails.
    for (const app of [`fcm:${vendors.credentials.fcmProjectId}`, `apns:${topic}:production`]) {
      const answer = await check(app);
      expect([answer.statusCode, answer.json()]).toMatchObject([
        200,
        { ok: false, cause: expect.any(String) },
      ]);
    }
    const unknown = await check('fcm:other');
    expect([unknown.statusCode, unknown.json().msg]).toEqual([
      409,
      expect.stringContaining('The app fcm:other cannot be checked'),
    ]);
    expect((await check(`apns:${topic}:sandbox`)).statusCode).toBe(409);
  });

  it('rejects invalid input, requests without a session, and requests from other sites', async () => {
    for (const app of ['x'.repeat(301), 'an\0app', 'an app\udc00']) {
      expect((await check(app)).json().code).toBe('BAD_REQUEST');
    }
    expect((await dashboard.ask('GET', '/admin/api/apps')).statusCode).toBe(401);
    expect((await dashboard.ask('POST', '/admin/api/apps/check')).statusCode).toBe(401);
    const headers = { 'sec-fetch-site': 'cross-site' };
    const foreign = await dashboard.ask('POST', '/admin/api/apps/check', { cookie, headers });
    expect(foreign.statusCode).toBe(403);
  });
});
