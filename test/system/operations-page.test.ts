import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readRelayEnvironment } from '@waxwing/relay';
import { readServerEnvironment } from '@waxwing/server';
import { ConfigurationError, type Environment } from '@waxwing/service/config';
import type { HttpLimits } from '@waxwing/service/http-settings';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Constellation } from '../support/constellation.js';
import { freePort } from '../support/free-ports.js';

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/operations.md'), 'utf8');

/** The cells of the table whose first column has this heading. */
function table(heading: string): string[][] {
  const [, rows = ''] =
    new RegExp(`^\\| ${heading} \\|.*\\n\\|[- |]+\\n((?:\\|.*\\n)+)`, 'm').exec(page) ?? [];
  return rows
    .trim()
    .split('\n')
    .map((row) =>
      row
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim().replace(/^`(.*)`$/, '$1')),
    );
}

/** Returns the sorted names of the environment variables that `read` looks up. */
function askedFor(read: (environment: Environment) => unknown): string[] {
  const names = new Set<string>();
  const environment = new Proxy<Environment>(
    {},
    {
      get(_target, name) {
        names.add(String(name));
        return undefined;
      },
    },
  );
  try {
    read(environment);
  } catch (error) {
    // An empty environment is expected to lack the required setting that opens the key ring.
    if (!(error instanceof ConfigurationError)) throw error;
  }
  return [...names].sort();
}

function httpDefaults(prefix: string, actor: string, http: HttpLimits): Record<string, string> {
  const defaults = {
    MAXIMUM_CONNECTIONS: http.maximumConnections,
    MAXIMUM_CONNECTIONS_PER_ADDRESS: http.maximumConnectionsPerAddress,
    MAXIMUM_REQUESTS_IN_FLIGHT: http.maximumRequestsInFlight,
    [`MAXIMUM_REQUESTS_PER_${actor}`]: http.maximumRequestsPerActor,
    MAXIMUM_BODY_BYTES_IN_FLIGHT: http.maximumBodyBytesInFlight,
    HEAD_TIMEOUT_SECONDS: http.headTimeoutMilliseconds / 1000,
    REQUEST_TIMEOUT_SECONDS: http.requestTimeoutMilliseconds / 1000,
    IDLE_TIMEOUT_SECONDS: http.idleTimeoutMilliseconds / 1000,
    ANSWER_TIMEOUT_SECONDS: http.answerTimeoutMilliseconds / 1000,
  };
  return Object.fromEntries(Object.entries(defaults).map(([name, is]) => [`${prefix}_${name}`, String(is)]));
}

describe('docs/operations.md', () => {
  let world: Constellation;
  let dir: string;
  const exposed: Record<string, string[]> = {};

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'waxwing-operations-'));
    world = await Constellation.create();
    const firstPort = await freePort(2);
    const [relayPort, serverPort] = [String(firstPort), String(firstPort + 1)];
    await world.startRelay({ RELAY_METRICS_PORT: relayPort });
    await world.startServer({ SERVER_METRICS_PORT: serverPort });
    for (const [name, port] of [
      ['relay', relayPort],
      ['server', serverPort],
    ] as const) {
      const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
      exposed[name] = [...text.matchAll(/^# TYPE (\w+) /gm)]
        .map(([, metric]) => metric as string)
        .filter((metric) => !/^(?:process|nodejs)_/.test(metric))
        .sort();
    }
  }, 120_000);
  afterAll(async () => {
    await world.close();
    rmSync(dir, { recursive: true, force: true });
  });

  it.each([
    ['relay', readRelayEnvironment],
    ['server', readServerEnvironment],
  ])('lists exactly the settings that the %s reads', (name, read) => {
    const listed = table(name).map(([setting]) => setting as string);
    expect(listed.sort()).toEqual(askedFor(read));
  });

  it('states the actual default values', () => {
    const defaults = Object.fromEntries(
      [...table('relay'), ...table('server')].map(([name, is]) => [name, is]),
    );
    const relay = readRelayEnvironment({ RELAY_KEY_RING_IDENTITY_FILE: 'x' });
    const server = readServerEnvironment({});
    const dayMilliseconds = 86_400_000;
    const { deliveries, keyRing } = relay;
    expect(defaults).toMatchObject({
      RELAY_HOST: relay.host,
      RELAY_PORT: String(relay.port),
      RELAY_DATABASE: relay.databaseUrl.reveal(),
      RELAY_LOG_LEVEL: relay.logLevel,
      RELAY_FCM_BASE_URL: deliveries.fcmBaseUrl,
      RELAY_APNS_PRODUCTION_URL: deliveries.apnsUrls.production,
      RELAY_APNS_SANDBOX_URL: deliveries.apnsUrls.sandbox,
      RELAY_SERVER_NOTIFICATIONS_PER_MINUTE: String(deliveries.notificationsPerMinute),
      RELAY_MAXIMUM_NOTIFICATIONS_IN_FLIGHT: String(deliveries.maximumInFlight),
      RELAY_MAXIMUM_NOTIFICATIONS_QUEUED: String(deliveries.maximumQueued),
      RELAY_KEY_RING: keyRing.location.kind === 'file' ? keyRing.location.path : '',
      RELAY_KEY_ROTATE_DAYS: String(keyRing.policy.rotateAfterMilliseconds / dayMilliseconds),
      RELAY_KEY_ACCEPT_DAYS: String(keyRing.policy.acceptForMilliseconds / dayMilliseconds),
      RELAY_KEY_UNUSED_DAYS: String(keyRing.policy.unusedForMilliseconds / dayMilliseconds),
      RELAY_KEY_LIST_VALID_DAYS: String(keyRing.policy.listValidMilliseconds / dayMilliseconds),
      RELAY_DRAIN_SECONDS: String(relay.drainMilliseconds / 1000),
      SERVER_DRAIN_SECONDS: String(server.drainMilliseconds / 1000),
      SERVER_HOST: server.host,
      ...httpDefaults('RELAY', 'SERVER', relay.http),
      ...httpDefaults('SERVER', 'USER', server.http),
      SERVER_PORT: String(server.port),
      SERVER_DATABASE: server.databaseUrl,
      SERVER_LOG_LEVEL: server.logLevel,
      SERVER_REALM_NAME: server.realm.name,
      SERVER_WEB_PUBLIC_CHANNELS: server.offersWebPublicChannels ? 'on' : 'off',
    });
  });

  it.each(['relay', 'server'])('lists exactly the metrics that a running %s exposes', (name) => {
    const listed = table('metric').filter(([, of]) => of === name || of === 'both');
    expect(listed.map(([metric]) => metric).sort()).toEqual(exposed[name]);
  });

  it('contains only commands that work', () => {
    const code = [...page.matchAll(/<!-- run by a test -->\n```sh\n([\s\S]*?)```/g)].map(([, text]) => text);
    expect(code).toHaveLength(3);
    const { PATH = '', HOME = '' } = process.env;
    const script = ['relay', 'server']
      .map((name) => `waxwing-${name}() { node ${join(root, `apps/${name}/bin/waxwing-${name}.js`)} "$@"; }`)
      // Migrates first, because the page's commands need a database.
      .concat('waxwing-server db migrate > migrated.txt', code as string[])
      .join('\n');
    const { status, stdout, stderr } = spawnSync('bash', ['--norc', '-euc', script], {
      cwd: dir,
      env: { PATH, HOME, NEW_DATABASE: 'sqlite:new.sqlite' },
      encoding: 'utf8',
    });
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/Exported (\d+ rows and \d+ jobs)\.\nImported \1\./);
  }, 120_000);

  it('lists the same kinds of deletion counts as the code', () => {
    const kinds = table('`kind`').map(([kind]) => kind);
    const folders = ['apps/relay/src', 'apps/server/src', 'packages/server-push/src'];
    const sources = folders.flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.ts'))
        .map((file) => readFileSync(join(root, folder, file), 'utf8')),
    );
    const naming = /(?:rowsRemoved\.inc\(\{ kind: |countRemoved\(\s*|rowKind: )'([a-z-]+)'/g;
    const counted = sources.flatMap((source) => [...source.matchAll(naming)].map(([, kind]) => kind));
    expect([...new Set(counted)].sort()).toEqual([...kinds].sort());
  });
});
