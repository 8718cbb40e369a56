import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dashboardRequestsTo } from '../../../support/dashboard-requests.js';
import { startRelayUnderTest } from '../relay-under-test.js';

export const adminToken = 'the-token-of-the-operator-of-this-relay';

export type DashboardUnderTest = Awaited<ReturnType<typeof startDashboard>>;

/** Starts a relay that serves the dashboard on its main port. The dashboard's page has two files. */
export async function startDashboard(databaseUrl: string, environment: Record<string, string> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'dashboard-'));
  const tokenFile = join(folder, 'token');
  writeFileSync(tokenFile, `${adminToken}\n`, { mode: 0o600 });
  const pageFolder = join(folder, 'page');
  mkdirSync(join(pageFolder, 'assets'), { recursive: true });
  writeFileSync(join(pageFolder, 'index.html'), '<!doctype html><title>Relay</title>');
  writeFileSync(join(pageFolder, 'assets', 'index-1a2b.js'), 'export {};');
  const settings = { RELAY_ADMIN_TOKEN_FILE: tokenFile, RELAY_ADMIN_ON: 'main', ...environment };
  const relay = await startRelayUnderTest(databaseUrl, settings, { pageFolder });
  return {
    relay,
    tokenFile,
    pageFolder,
    ...dashboardRequestsTo(relay.app, adminToken),
    async close() {
      await relay.close();
      rmSync(folder, { recursive: true });
    },
  };
}
