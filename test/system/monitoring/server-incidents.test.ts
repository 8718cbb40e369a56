import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { ServerUnderTest, testPhone } from '../../apps/server/server-under-test.js';
import { dashboardRequestsTo } from '../../support/dashboard-requests.js';
import { registered } from '../../support/relay-stand-in.js';
import type { Check } from './watched-relay.js';

const adminToken = 'the-token-of-the-admin-of-this-server';
const minute = 60_000;

it('a relay that is away is named with its remedy on the dashboard of the server, and the log has one to five lines', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'waxwing-incident-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const tokenFile = join(folder, 'token');
  writeFileSync(tokenFile, adminToken, { mode: 0o600 });
  const server = await ServerUnderTest.start({ dashboard: { kind: 'on', tokenFile, port: 'main' } });
  onTestFinished(() => server.close());
  const requests = dashboardRequestsTo(server.server.app, adminToken);
  const cookie = await requests.session();
  const relayCheck = async () => {
    const answer = await requests.ask('GET', '/admin/api/overview', { cookie });
    const { checks } = answer.json() as { checks: Check[] };
    return checks.find(({ name }) => name === 'relay');
  };
  const pass = async (minutes: number) => {
    for (let count = 0; count < minutes; count += 1) {
      server.now += minute;
      await server.settle();
    }
  };
  const ada = await server.addAccount('ada@example.com');
  server.relay.otherwise('cut');
  expect((await server.register(ada, testPhone('1').fields)).status).toBe(200);
  await pass(10);
  expect(await relayCheck()).toMatchObject({
    ok: false,
    cause: expect.stringMatching(/^The relay does not answer as it should: /),
    remedy: expect.stringMatching(/\.$/),
  });
  server.relay.otherwise(registered(7));
  await pass(60);
  expect(await relayCheck()).toEqual({ name: 'relay', ok: true });
  const levels = server.logged.lines().map(({ level }) => String(level));
  const troubles = levels.filter((level) => ['warn', 'error', 'fatal'].includes(level));
  expect(troubles.length).toBeGreaterThanOrEqual(1);
  expect(troubles.length).toBeLessThanOrEqual(5);
});
