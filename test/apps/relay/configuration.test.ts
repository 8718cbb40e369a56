import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readRelayEnvironment } from '@waxwing/relay';
import { ConfigurationError } from '@waxwing/service/config';
import { expect, it } from 'vitest';
import { runRelayCommand } from './command-line-under-test.js';

const needed = { RELAY_KEY_RING_IDENTITY_FILE: 'identity.txt' };

function problemsOf(environment: Record<string, string>): readonly string[] {
  try {
    readRelayEnvironment(environment);
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
  return [];
}

it('the relay requires only the settings for unlocking the key ring', () => {
  expect(readRelayEnvironment(needed)).toMatchObject({
    host: '127.0.0.1',
    port: 8320,
    logLevel: 'info',
    drainMilliseconds: 0,
    metrics: { kind: 'not-configured' },
    deliveries: { apps: { kind: 'not-configured' } },
    takesPlaintextDevices: false,
  });
  expect(readRelayEnvironment(needed).databaseUrl.reveal()).toBe('sqlite:relay.sqlite');
});

it('the relay reads its settings and ignores variables with other prefixes', () => {
  const configuration = readRelayEnvironment({
    ...needed,
    RELAY_HOST: '::1',
    RELAY_PORT: '0',
    RELAY_DATABASE: 'sqlite:/var/lib/relay.sqlite',
    RELAY_LOG_LEVEL: 'debug',
    RELAY_METRICS_PORT: '9100',
    RELAY_METRICS_HOST: '192.0.2.7',
    RELAY_CA_FILE: 'ca.pem',
    RELAY_PLAINTEXT_DEVICES: 'on',
    SERVER_PORT: 'x',
    HOME: '/root',
  });
  expect(configuration).toMatchObject({
    host: '::1',
    port: 0,
    logLevel: 'debug',
    metrics: { kind: 'configured', host: '192.0.2.7', port: 9100 },
    caFile: 'ca.pem',
    takesPlaintextDevices: true,
  });
});

it('one error reports all problems, including those of the key ring and deliveries', () => {
  const problems = problemsOf({
    RELAY_PORT: '65536',
    RELAY_LOG_LEVEL: 'loud',
    RELAY_METRICS_PORT: '-1',
    RELAY_PLAINTEXT_DEVICES: 'yes',
    RELAY_FCM_BASE_URL: 'https://fcm.example',
    RELAY_DATABSE: 'sqlite:typo',
  });
  for (const name of [
    'PORT',
    'LOG_LEVEL',
    'METRICS_PORT',
    'PLAINTEXT_DEVICES',
    'KEY_RING_IDENTITY_FILE',
    'FCM_BASE_URL',
    'DATABSE',
  ]) {
    expect(problems.filter((problem) => problem.includes(`RELAY_${name} `))).toHaveLength(1);
  }
  for (const problem of problems) expect(problem).toMatch(/^[A-Z].*[.?]$/s);
  expect(problems).toContain('RELAY_DATABSE is not a setting: did you mean RELAY_DATABASE?');
});

it('a key ring in the database requires explicit paths for the audit log and the admin socket', () => {
  const inDatabase = { ...needed, RELAY_KEY_RING: 'database' };
  expect(problemsOf(inDatabase)).toEqual([
    expect.stringMatching(/^RELAY_KEY_AUDIT_LOG is not set: a ring in the database needs it, such as \//),
    expect.stringMatching(/^RELAY_KEY_ADMIN_SOCKET is not set: a ring in the database needs it, such as \//),
  ]);
  const places = { RELAY_KEY_AUDIT_LOG: '/a.jsonl', RELAY_KEY_ADMIN_SOCKET: '/a.sock' };
  expect(problemsOf({ ...inDatabase, ...places })).toEqual([]);
});

it('metrics need a port, and listen on loopback unless RELAY_METRICS_HOST is set', () => {
  const { metrics } = readRelayEnvironment({ ...needed, RELAY_METRICS_PORT: '0' });
  expect(metrics).toEqual({ kind: 'configured', host: '127.0.0.1', port: 0 });
  expect(problemsOf({ ...needed, RELAY_METRICS_HOST: '::' })).toEqual([
    'RELAY_METRICS_HOST says where metrics are shown, but RELAY_METRICS_PORT is not set: set both or neither.',
  ]);
});

it.each([
  [
    'file/ring.age',
    /^waxwing-relay: \S+ cannot be used: a file is where a folder is expected; check its path\.$/,
  ],
  ['.', /^waxwing-relay: The key ring \S+ is a folder: set RELAY_KEY_RING to a file in it\.$/],
])('keys init reports in one sentence that the key ring cannot be at %s', async (place, sentence) => {
  const folder = mkdtempSync(join(tmpdir(), 'waxwing-places-'));
  writeFileSync(join(folder, 'file'), '');
  const { status, stderr } = await runRelayCommand(['keys', 'init'], {
    environment: {
      RELAY_DATABASE: `sqlite:${join(folder, 'relay.sqlite')}`,
      RELAY_KEY_RING: join(folder, place),
      RELAY_KEY_RING_IDENTITY_FILE: join(folder, 'identity'),
      RELAY_KEY_AUDIT_LOG: join(folder, 'audit.jsonl'),
      RELAY_KEY_ADMIN_SOCKET: join(folder, 'relay.sock'),
    },
  });
  expect(status).toBe(1);
  expect(stderr).toMatch(sentence);
});

it('an unknown command gets a suggestion of the command that was probably meant', async () => {
  for (const [typed, meant] of [
    ['kesy list', 'keys'],
    ['keys lsit', 'list'],
  ] as const) {
    const { status, stderr } = await runRelayCommand(typed.split(' '), { environment: {} });
    expect([status, stderr]).toEqual([2, expect.stringContaining(`did you mean "${meant}"?`)]);
  }
});

it('a command also rejects a mistyped setting, because it would use another database', async () => {
  const { status, stderr } = await runRelayCommand(['servers', 'list'], {
    environment: { RELAY_DATABAS: 'sqlite:/nowhere/relay.sqlite' },
  });
  expect([status, stderr]).toEqual([
    1,
    'waxwing-relay: RELAY_DATABAS is not a setting: did you mean RELAY_DATABASE?',
  ]);
});

it('the configuration as JSON does not contain the database password', () => {
  const configuration = readRelayEnvironment({
    ...needed,
    RELAY_DATABASE: 'postgres://relay:s3cret@db/relay',
  });
  expect(JSON.stringify(configuration)).not.toContain('s3cret');
});

it('a limit per server above the total limit is rejected', () => {
  const inFlight = { ...needed, RELAY_MAXIMUM_REQUESTS_IN_FLIGHT: '999' };
  const problem = expect.stringMatching(/^RELAY_MAXIMUM_REQUESTS_PER_SERVER is more .*REQUESTS_IN_FLIGHT/);
  // Too low, because RELAY_MAXIMUM_REQUESTS_PER_SERVER is 1000 by default.
  expect(problemsOf(inFlight)).toEqual([problem]);
  expect(problemsOf({ ...inFlight, RELAY_MAXIMUM_REQUESTS_PER_SERVER: '1000' })).toEqual([problem]);
  expect(problemsOf({ ...inFlight, RELAY_MAXIMUM_REQUESTS_PER_SERVER: '999' })).toEqual([]);
});
