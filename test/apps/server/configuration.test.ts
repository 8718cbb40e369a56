import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { readServerEnvironment, startServer } from '@waxwing/server';
import { ConfigurationError, Secret } from '@waxwing/service/config';
import { AddressRanges, defaultHttpLimits } from '@waxwing/service/http-settings';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createMemoryLog } from '../../support/memory-log.js';

const serverId = '6cde5f7a-1f7e-4978-9716-49f69ebfc9fe';

function problemsOf(environment: Record<string, string>): readonly string[] {
  try {
    readServerEnvironment(environment);
    return [];
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
}

/** Reads the configuration and reveals its secret, for comparison. */
function read(environment: Record<string, string>) {
  const configuration = readServerEnvironment(environment);
  return { ...configuration, databaseUrl: configuration.databaseUrl.reveal() };
}

describe('the server’s environment', () => {
  it('has defaults: loopback, a database file in the current folder and no relay', () => {
    expect(read({ PATH: '/bin' })).toEqual({
      host: '127.0.0.1',
      port: 8310,
      databaseUrl: 'sqlite:server.sqlite',
      logLevel: 'info',
      http: { ...defaultHttpLimits, maximumRequestsPerActor: 100 },
      drainMilliseconds: 0,
      tracing: { url: undefined, percent: 100, setting: 'SERVER_TRACES_URL' },
      dashboard: { kind: 'off' },
      metrics: { kind: 'not-configured' },
      realm: { url: 'http://127.0.0.1:8310', name: 'Waxwing', hasDefaultUrl: true },
      relay: { kind: 'not-configured' },
      pushAccount: { keyFile: 'waxwing-server.key', allowsPlainHttp: false },
      relayNetwork: { caFile: undefined, proxyUrl: undefined },
      registrationsPerHour: 60,
      offersWebPublicChannels: false,
      uploads: { store: { kind: 'disk', folder: 'uploads' }, quotaBytes: undefined },
      invitationValidityMinutes: 14_400,
    });
  });

  it('sets every option', () => {
    const environment = {
      SERVER_HOST: '::1',
      SERVER_PORT: '9000',
      SERVER_DATABASE: 'sqlite:/var/lib/server.sqlite',
      SERVER_LOG_LEVEL: 'warn',
      SERVER_METRICS_PORT: '9001',
      SERVER_DRAIN_SECONDS: '6',
      SERVER_MAXIMUM_CONNECTIONS: '1',
      SERVER_MAXIMUM_CONNECTIONS_PER_ADDRESS: '2',
      SERVER_TRUSTED_PROXIES: '10.0.0.0/8, 2001:db8::1',
      SERVER_MAXIMUM_REQUESTS_IN_FLIGHT: '4',
      SERVER_MAXIMUM_REQUESTS_PER_USER: '3',
      SERVER_MAXIMUM_BODY_BYTES_IN_FLIGHT: '5',
      SERVER_HEAD_TIMEOUT_SECONDS: '6',
      SERVER_REQUEST_TIMEOUT_SECONDS: '7',
      SERVER_IDLE_TIMEOUT_SECONDS: '8',
      SERVER_ANSWER_TIMEOUT_SECONDS: '9',
      SERVER_TRACES_URL: 'http://127.0.0.1:4318/v1/traces',
      SERVER_TRACES_PERCENT: '10',
      SERVER_ADMIN_TOKEN_FILE: '/t',
      SERVER_REALM_NAME: 'Example',
      SERVER_RELAY_URL: 'https://push.example.com/',
      SERVER_RELAY_SERVER_ID: serverId.toUpperCase(),
      SERVER_RELAY_SERVER_KEY_FILE: '/run/key',
      SERVER_RELAY_PLAIN_HTTP: 'on',
      SERVER_RELAY_CA_FILE: '/run/ca.pem',
      SERVER_RELAY_PROXY: 'http://proxy.example:3128',
      SERVER_KEY_FILE: '/run/own-key',
      SERVER_REGISTRATIONS_PER_HOUR: '100000',
      SERVER_WEB_PUBLIC_CHANNELS: 'on',
      SERVER_UPLOADS: 's3:files',
      SERVER_UPLOADS_S3_ENDPOINT: 'https://s3.example.com/',
      SERVER_UPLOADS_S3_REGION: 'eu-central-1',
      SERVER_UPLOADS_S3_ACCESS_KEY_ID: 'waxwing',
      SERVER_UPLOADS_S3_SECRET_KEY_FILE: '/run/s3-key',
      SERVER_UPLOADS_QUOTA_MIB: '10',
      SERVER_INVITATION_LINK_VALIDITY_MINUTES: '60',
    };
    expect(read(environment)).toEqual({
      host: '::1',
      port: 9000,
      drainMilliseconds: 6000,
      tracing: { url: 'http://127.0.0.1:4318/v1/traces', percent: 10, setting: 'SERVER_TRACES_URL' },
      dashboard: { kind: 'on', tokenFile: '/t', port: 'metrics' },
      databaseUrl: 'sqlite:/var/lib/server.sqlite',
      logLevel: 'warn',
      http: {
        maximumConnections: 1,
        maximumConnectionsPerAddress: 2,
        trustedProxies: new AddressRanges(['10.0.0.0/8', '2001:db8::1']),
        backlogMilliseconds: 300,
        minimumBacklog: 32,
        maximumRequestsInFlight: 4,
        maximumRequestsPerActor: 3,
        maximumBodyBytesInFlight: 5,
        maximumHeadBytes: 16_384,
        headTimeoutMilliseconds: 6000,
        requestTimeoutMilliseconds: 7000,
        idleTimeoutMilliseconds: 8000,
        answerTimeoutMilliseconds: 9000,
        unreadBodyTimeoutMilliseconds: 5000,
        checkEveryMilliseconds: 1000,
      },
      metrics: { kind: 'configured', host: '127.0.0.1', port: 9001 },
      realm: { url: 'http://[::1]:9000', name: 'Example', hasDefaultUrl: true },
      relay: {
        kind: 'configured',
        url: 'https://push.example.com',
        serverId,
        serverKeyFile: '/run/key',
      },
      pushAccount: { keyFile: '/run/own-key', allowsPlainHttp: true },
      relayNetwork: { caFile: '/run/ca.pem', proxyUrl: new Secret('http://proxy.example:3128') },
      registrationsPerHour: 100_000,
      offersWebPublicChannels: true,
      uploads: {
        store: {
          kind: 's3',
          bucket: 'files',
          region: 'eu-central-1',
          endpoint: 'https://s3.example.com',
          accessKeyId: 'waxwing',
          secretKeyFile: '/run/s3-key',
        },
        quotaBytes: 10 * 1024 * 1024,
      },
      invitationValidityMinutes: 60,
    });
  });

  it('keeps uploaded files next to the database or in the configured store', () => {
    const storeOf = (environment: Record<string, string>) => readServerEnvironment(environment).uploads.store;
    const database = { SERVER_DATABASE: 'sqlite:/var/lib/waxwing/server.sqlite' };
    expect(storeOf(database)).toEqual({ kind: 'disk', folder: '/var/lib/waxwing/uploads' });
    expect(storeOf({ SERVER_DATABASE: 'postgres://db' })).toEqual({ kind: 'not-configured' });
    expect(storeOf({ ...database, SERVER_UPLOADS: 'disk:/srv/files' })).toEqual({
      kind: 'disk',
      folder: '/srv/files',
    });
    expect(problemsOf({ SERVER_UPLOADS: 'files', SERVER_UPLOADS_QUOTA_MIB: '-1' })).toEqual([
      'SERVER_UPLOADS_QUOTA_MIB is "-1": it must be a whole number from 0 to 1073741824.',
      'SERVER_UPLOADS is "files": it must be disk:<folder> or s3:<bucket>.',
    ]);
    expect(problemsOf({ SERVER_UPLOADS: 's3:files' })).toEqual([
      'SERVER_UPLOADS names a bucket: set SERVER_UPLOADS_S3_ACCESS_KEY_ID and SERVER_UPLOADS_S3_SECRET_KEY_FILE as well.',
    ]);
    expect(problemsOf({ SERVER_UPLOADS_S3_REGION: 'eu-central-1' })).toEqual([
      'SERVER_UPLOADS_S3_REGION is set, but SERVER_UPLOADS names no bucket: set it to s3:<bucket>.',
    ]);
  });

  it('never prints the database password', () => {
    const environment = { SERVER_DATABASE: 'postgres://waxwing:hidden@db.example.com/chat' };
    const configuration = readServerEnvironment(environment);
    for (const printed of [inspect(configuration), JSON.stringify(configuration)]) {
      expect(printed).not.toContain('hidden');
    }
  });

  it('is refused with a list of all problems', () => {
    const problems = problemsOf({
      SERVER_PORT: '99999',
      SERVER_LOG_LEVEL: 'loud',
      SERVER_RELAY_URL: 'ftp://push.example.com',
      SERVER_RELAY_SERVER_ID: 'me',
      SERVER_REALM_URL: `https://${'h'.repeat(500)}`,
      SERVER_RELLAY_URL: 'x',
      SERVER_REGISTRATIONS_PER_HOUR: '100001',
      SERVER_HEAD_TIMEOUT_SECONDS: '31',
      SERVER_TRUSTED_PROXIES: '10.0.0.1, proxy.example.com',
      SERVER_MAXIMUM_CONNECTIONS: '0',
    });
    const relayNames = ['RELAY_URL', 'RELAY_SERVER_ID', 'RELLAY_URL', 'REGISTRATIONS_PER_HOUR'];
    const httpNames = ['HEAD_TIMEOUT_SECONDS', 'TRUSTED_PROXIES', 'MAXIMUM_CONNECTIONS'];
    for (const name of ['PORT', 'LOG_LEVEL', 'REALM_URL', ...relayNames, ...httpNames]) {
      expect(problems.some((problem) => problem.startsWith(`SERVER_${name} `))).toBe(true);
    }
  });

  it('is refused with a registration limit of zero', () => {
    expect(problemsOf({ SERVER_REGISTRATIONS_PER_HOUR: '0' })).toEqual([
      expect.stringContaining('from 1 to 100000'),
    ]);
  });

  it('is refused when one user may have more requests in flight than all users together', () => {
    const inFlight = { SERVER_MAXIMUM_REQUESTS_IN_FLIGHT: '99' };
    const problem = expect.stringMatching(/^SERVER_MAXIMUM_REQUESTS_PER_USER is more .*REQUESTS_IN_FLIGHT/);
    // 99 is too low: SERVER_MAXIMUM_REQUESTS_PER_USER is 100 by default.
    expect(problemsOf(inFlight)).toEqual([problem]);
    expect(problemsOf({ ...inFlight, SERVER_MAXIMUM_REQUESTS_PER_USER: '100' })).toEqual([problem]);
    expect(problemsOf({ ...inFlight, SERVER_MAXIMUM_REQUESTS_PER_USER: '99' })).toEqual([]);
  });

  it.each([
    ['SERVER_RELAY_URL', 'https://push.example.com'],
    ['SERVER_RELAY_SERVER_ID', serverId],
    ['SERVER_RELAY_SERVER_KEY_FILE', '/run/key'],
  ])('is refused when %s is the only relay option', (name, value) => {
    expect(problemsOf({ [name]: value })).toEqual([expect.stringContaining('only partly configured')]);
  });
});

describe('the address of the relay', () => {
  const relayAt = (url: string, others: Record<string, string> = {}) => ({
    SERVER_RELAY_URL: url,
    SERVER_RELAY_SERVER_ID: serverId,
    SERVER_RELAY_SERVER_KEY_FILE: '/run/key',
    ...others,
  });

  it.each(['http://push.example.com', 'http://10.0.0.7:8320', 'http://localhost.example.com'])(
    'must not be plain http to another machine, such as %s, unless this is allowed',
    (url) => {
      const problem = /^SERVER_RELAY_URL is .*plain http to another machine.*SERVER_RELAY_PLAIN_HTTP=on/;
      expect(problemsOf(relayAt(url))).toEqual([expect.stringMatching(problem)]);
      expect(problemsOf(relayAt(url, { SERVER_RELAY_PLAIN_HTTP: 'on' }))).toEqual([]);
    },
  );

  it.each(['https://push.example.com', 'http://localhost:8320', 'http://127.0.0.2:1', 'http://[::1]:8320'])(
    'can be %s',
    (url) => expect(problemsOf(relayAt(url))).toEqual([]),
  );

  it('has an option for plain http that takes only on and off', () => {
    expect(problemsOf({ SERVER_RELAY_PLAIN_HTTP: 'yes' })).toEqual([
      expect.stringContaining('SERVER_RELAY_PLAIN_HTTP is "yes"'),
    ]);
  });
});

describe('starting the server', () => {
  let folder: string;
  let memoryLog: ReturnType<typeof createMemoryLog>;
  beforeEach(() => {
    memoryLog = createMemoryLog();
    folder = mkdtempSync(join(tmpdir(), 'waxwing-server-start-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  function start(environment: Record<string, string>) {
    const database = `sqlite:${join(folder, 'server.sqlite')}`;
    const configuration = readServerEnvironment({
      SERVER_PORT: '0',
      SERVER_DATABASE: database,
      ...environment,
    });
    return startServer(configuration, { log: memoryLog.log });
  }

  it.each([
    ['warns', {}, [expect.objectContaining({ msg: expect.stringContaining('SERVER_REALM_URL is not set') })]],
    ['says nothing', { SERVER_REALM_URL: 'https://chat.example.com' }, []],
  ])('%s about the organization’s URL when the environment is %j', async (_, environment, warnings) => {
    const server = await start(environment);
    await server.close();
    expect(memoryLog.lines().filter(({ level }) => level === 'warn' || level === 40)).toEqual(warnings);
  });

  it('serves requests and health checks on its port, and metrics on a separate port if enabled', async () => {
    const server = await start({ SERVER_METRICS_PORT: '0' });
    const ready = await fetch(`${server.url}/health/ready`);
    const checks = { database: 'ok', files: 'ok' };
    expect([ready.status, await ready.json()]).toEqual([200, { ready: true, checks }]);
    expect((await fetch(`${server.url}/api/v1/register`, { method: 'POST' })).status).toBe(401);
    const metrics = await (await fetch(String(server.metricsUrl))).text();
    expect(metrics).toContain(
      'waxwing_http_request_seconds_count{operation="POST /api/v1/register",status="401"} 1',
    );
    expect((await fetch(new URL('/health/live', server.metricsUrl))).status).toBe(200);
    expect((await fetch(`${server.url}/metrics`)).status).toBe(404);
    await server.close();
  });

  it('fails if the key file is missing or readable by other users', async () => {
    const keyFile = join(folder, 'key');
    const relay = { SERVER_RELAY_URL: 'http://127.0.0.1:1', SERVER_RELAY_SERVER_ID: serverId };
    const environment = { ...relay, SERVER_RELAY_SERVER_KEY_FILE: keyFile };
    await expect(start(environment)).rejects.toThrow('cannot be read');
    writeFileSync(keyFile, '\n', { mode: 0o600 });
    await expect(start(environment)).rejects.toThrow('contains no key');
    chmodSync(keyFile, 0o644);
    await expect(start(environment)).rejects.toThrow(`chmod 600 ${keyFile}`);
  });
});
