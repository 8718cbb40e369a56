import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ServerUnderTest, testPhone } from '../../apps/server/server-under-test.js';
import { dashboardRequestsTo } from '../../support/dashboard-requests.js';
import { registered } from '../../support/relay-stand-in.js';
import { seriesOf } from './raised-alerts.js';
import { expectAlert } from './undergo.js';
import type { Check } from './watched-relay.js';

const adminToken = 'the-token-of-the-admin-of-this-server';
const minute = 60_000;
const troubleLevels = ['warn', 'error', 'fatal'];

/**
 * Starts a server with a dashboard, and registers a phone. The registration does not reach the relay until `comeBack`.
 */
async function watchServerWithoutRelay() {
  const folder = mkdtempSync(join(tmpdir(), 'waxwing-incident-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const tokenFile = join(folder, 'token');
  writeFileSync(tokenFile, adminToken, { mode: 0o600 });
  const server = await ServerUnderTest.start({ dashboard: { kind: 'on', tokenFile, port: 'main' } });
  onTestFinished(() => server.close());
  const requests = dashboardRequestsTo(server.server.app, adminToken);
  const scrape = async () => ({ text: await server.server.metrics.text(), at: server.now });
  const healthy = await scrape();
  const ada = await server.addAccount('ada@example.com');
  server.relay.otherwise('cut');
  expect((await server.register(ada, testPhone('1').fields)).status).toBe(200);
  return {
    database: server.server.database,
    async check(wanted: string) {
      const cookie = await requests.session();
      const answer = await requests.ask('GET', '/admin/api/overview', { cookie });
      const { checks } = answer.json() as { checks: Check[] };
      return checks.find(({ name }) => name === wanted);
    },
    async pass(minutes: number) {
      for (let count = 0; count < minutes; count += 1) {
        server.now += minute;
        await server.settle();
      }
    },
    async passAtOnce(milliseconds: number) {
      server.now += milliseconds;
      await server.settle();
    },
    async expectAlert(alert: string) {
      expectAlert(alert, seriesOf(healthy, await scrape(), 'waxwing-server'));
    },
    comeBack: () => server.relay.otherwise(registered(7)),
    troubles: () => server.logged.lines().filter(({ level }) => troubleLevels.includes(String(level))),
  };
}

function expectFewLines(lines: readonly object[]): void {
  expect(lines.length, JSON.stringify(lines)).toBeGreaterThanOrEqual(1);
  expect(lines.length, JSON.stringify(lines)).toBeLessThanOrEqual(5);
}

describe('the server’s dashboard and one to five log lines', () => {
  it('explain an unreachable relay', async () => {
    const server = await watchServerWithoutRelay();
    await server.pass(10);
    expect(await server.check('relay')).toMatchObject({
      ok: false,
      cause: expect.stringMatching(/^The last request to the relay failed: /),
      remedy: expect.stringMatching(/\.$/),
    });
    await server.expectAlert('WaxwingRelayAway');
    server.comeBack();
    await server.pass(60);
    expect(await server.check('relay')).toEqual({ name: 'relay', ok: true });
    expectFewLines(server.troubles());
  });

  it('explain jobs that were given up because the relay was unreachable for a day', async () => {
    const server = await watchServerWithoutRelay();
    await server.pass(10);
    await server.passAtOnce(86_400_000);
    expect(await server.check('jobs')).toMatchObject({
      ok: false,
      cause: 'The server has given up on 1 job.',
      remedy: expect.stringMatching(/retry the jobs\.$/),
    });
    await server.expectAlert('WaxwingDeadJobs');
    expect(server.troubles()).toContainEqual(
      expect.objectContaining({
        msg: 'a job was given up',
        kind: 'push-devices/forward-registration',
        reason: expect.stringMatching(/^given up: the relay/),
        remedy: expect.stringContaining('waxwing-server queue list --state dead'),
      }),
    );
    expectFewLines(server.troubles());
    const [dead] = await server.database.jobs.list({ state: 'dead' });
    await server.database.jobs.drop(dead?.id ?? '');
    expect(await server.check('jobs')).toEqual({ name: 'jobs', ok: true });
  });
});
