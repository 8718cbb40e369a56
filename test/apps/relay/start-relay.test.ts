import { chmodSync, mkdtempSync, readFileSync, rmSync, symlinkSync, truncateSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readRelayEnvironment, startRelay } from '@waxwing/relay';
import { writePrivateFile } from '@waxwing/service/config';
import type { ListeningService } from '@waxwing/service/http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createMemoryLog } from '../../support/memory-log.js';
import { seal } from '../../support/noble-oracle.js';
import { runJsonCommand } from '../../support/spawned-process.js';
import { commandClock, runRelayCommand } from './command-line-under-test.js';
import { basic, realmUuid } from './relay-under-test.js';

const token = 'fcm-token-that-nobody-may-see';

let folder: string;
let environment: Record<string, string>;
let relays: ListeningService[];
let memoryLog: ReturnType<typeof createMemoryLog>;
let now: number;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'waxwing-relay-'));
  environment = {
    RELAY_PORT: '0',
    RELAY_METRICS_PORT: '0',
    RELAY_DATABASE: `sqlite:${join(folder, 'relay.sqlite')}`,
    RELAY_KEY_RING: join(folder, 'key-ring.age'),
    RELAY_KEY_RING_IDENTITY_FILE: join(folder, 'identity.txt'),
  };
  relays = [];
  memoryLog = createMemoryLog();
  // The next command dates the key ring with the commands' clock, so the relay uses the same clock.
  now = commandClock();
  expect(await runRelayCommand(['keys', 'init'], { environment })).toMatchObject({ status: 0 });
});

afterEach(async () => {
  for (const relay of relays) await relay.close();
  rmSync(folder, { recursive: true, force: true });
});

async function start(changes: Record<string, string> = {}): Promise<ListeningService> {
  const configuration = readRelayEnvironment({ ...environment, ...changes });
  const relay = await startRelay(configuration, { log: memoryLog.log, clock: () => now });
  relays.push(relay);
  return relay;
}

interface Credentials {
  readonly server_id: string;
  readonly server_key: string;
}

function unlinked(path: string): string {
  rmSync(path);
  return path;
}

async function primaryKey(): Promise<string> {
  const { stdout } = await runRelayCommand(['keys', 'list', '--json'], { environment });
  const { keys } = JSON.parse(stdout) as { keys: { public_key: string; state: string }[] };
  return keys.find(({ state }) => state === 'primary')?.public_key ?? '';
}

async function register(
  { url }: ListeningService,
  { server_id, server_key }: Credentials,
): Promise<Response> {
  const bouncer_public_key = await primaryKey();
  const plaintext = JSON.stringify({ token_kind: 'fcm', token, timestamp: Math.floor(now / 1000) });
  const box = seal(
    new TextEncoder().encode(plaintext),
    new Uint8Array(Buffer.from(bouncer_public_key, 'base64')),
    crypto.getRandomValues(new Uint8Array(32)),
  );
  return fetch(`${url}/api/v1/remotes/push/e2ee/register`, {
    method: 'POST',
    headers: { authorization: basic(server_id, server_key) },
    body: new URLSearchParams({
      realm_uuid: realmUuid,
      push_account_id: '1',
      encrypted_push_registration: Buffer.from(box).toString('base64'),
      bouncer_public_key,
    }),
  });
}

describe('a running relay', () => {
  it('accepts a registration from a server that another process has just added', async () => {
    const relay = await start();
    const env = environment;
    const added = await runJsonCommand<Credentials>(
      'waxwing-relay',
      ['servers', 'add', '--realm', realmUuid],
      { env },
    );
    const answer = await register(relay, added);
    expect([answer.status, await answer.json()]).toEqual([
      200,
      { result: 'success', msg: '', device_id: expect.any(Number) },
    ]);

    await runJsonCommand('waxwing-relay', ['servers', 'suspend', added.server_id, '--yes'], { env });
    now += 2000;
    expect((await register(relay, added)).status).toBe(401);
  });

  it('keeps its devices, with readable tokens, across a restart', async () => {
    const first = await start();
    const argv = ['servers', 'add', '--realm', realmUuid, '--json'];
    const added = JSON.parse((await runRelayCommand(argv, { environment })).stdout) as Credentials;
    const { device_id } = (await (await register(first, added)).json()) as { device_id: number };
    await first.close();
    const second = await start();
    expect(await (await register(second, added)).json()).toMatchObject({ device_id });
  });

  it('is ready, and serves its metrics on a separate listener', async () => {
    const relay = await start();
    const ready = await fetch(`${relay.url}/health/ready`);
    expect([ready.status, await ready.json()]).toMatchObject([
      200,
      { ready: true, checks: { database: 'ok', keys: 'ok', vendors: 'ok', files: 'ok', load: 'ok' } },
    ]);
    expect((await fetch(`${relay.url}/metrics`)).status).toBe(404);
    const metrics = await fetch(relay.metricsUrl ?? '');
    expect(metrics.headers.get('content-type')).toContain('text/plain');
    const text = await metrics.text();
    expect(text).toContain('waxwing_http_request_seconds_count{operation="none"');
    for (const check of ['database', 'keys', 'vendors']) {
      expect(text).toContain(`waxwing_readiness_check{check="${check}"} 1\n`);
      expect(text).toContain(`waxwing_readiness_warning{check="${check}"} 0\n`);
    }
    expect(text).toMatch(/^waxwing_build_info\{version="\d+\.\d+\.\d+"\} 1$/m);
    const thirtyDays = 30 * 86_400;
    expect(text).toContain(`waxwing_key_list_expiry_timestamp_seconds ${now / 1000 + thirtyDays}\n`);
    expect(text).toContain(`waxwing_key_list_issue_timestamp_seconds ${now / 1000}\n`);
    expect(text).toContain(`waxwing_primary_key_timestamp_seconds ${now / 1000}\n`);
    const toOperator = await fetch(new URL('/health/ready', relay.metricsUrl));
    expect([toOperator.status, await toOperator.json()]).toMatchObject([200, { ready: true }]);
    expect((await fetch(new URL('/other', relay.metricsUrl))).status).toBe(404);
  });

  const spoilings: [string, (path: string) => void, RegExp][] = [
    ['truncated', (path) => truncateSync(path, 100), /restore the ring from a backup/],
    ['missing', (path) => rmSync(path), /is missing: restore it from a backup/],
    [
      'accessible to other users',
      (path) => chmodSync(path, 0o644),
      /has mode 0644, which lets others use it: run chmod 600/,
    ],
    ['a symbolic link', (path) => symlinkSync(`${path}.target`, unlinked(path)), /is a symbolic link/],
  ];

  it.each(spoilings)(
    'is not ready while its stored key ring is %s, and logs the reason',
    async (_name, spoil, sentence) => {
      const relay = await start();
      const ready = async () => {
        const answer = await fetch(`${relay.url}/health/ready`);
        const { checks } = (await answer.json()) as { checks: Record<string, string> };
        return { status: answer.status, keys: checks.keys === 'ok', database: checks.database };
      };
      expect(await ready()).toEqual({ status: 200, keys: true, database: 'ok' });
      const path = environment.RELAY_KEY_RING ?? '';
      const good = readFileSync(path);
      spoil(path);
      await expect.poll(ready).toEqual({ status: 503, keys: false, database: 'ok' });
      expect(memoryLog.text()).toMatch(sentence);
      const metrics = await fetch(relay.metricsUrl ?? '');
      expect(await metrics.text()).toContain('waxwing_readiness_check{check="keys"} 0\n');
      rmSync(path, { force: true });
      await writePrivateFile(path, good);
      await expect.poll(ready).toEqual({ status: 200, keys: true, database: 'ok' });
    },
  );

  it('logs its cryptography backend, but no token or key', async () => {
    const relay = await start();
    const argv = ['servers', 'add', '--realm', realmUuid, '--json'];
    const added = JSON.parse((await runRelayCommand(argv, { environment })).stdout) as Credentials;
    await register(relay, added);
    const logged = memoryLog.text();
    expect(memoryLog.lines()).toContainEqual(
      expect.objectContaining({ backend: expect.stringMatching(/^(native|wasm)$/) }),
    );
    expect(logged).toContain('POST /api/v1/remotes/push/e2ee/register');
    expect(logged).not.toContain(token);
    expect(logged).not.toContain(added.server_key);
  });
});

describe('a relay that cannot start', () => {
  it('reports in one sentence that another process serves from its database', async () => {
    await start();
    await expect(start()).rejects.toThrow(/is in use by another serving process: stop that one first/);
  });

  it('leaves nothing open if its port is taken, so that the next start succeeds', async () => {
    const squatter = createServer();
    await new Promise<void>((resolve) => squatter.listen(0, '127.0.0.1', resolve));
    const { port } = squatter.address() as { port: number };
    await expect(start({ RELAY_PORT: String(port) })).rejects.toMatchObject({ code: 'EADDRINUSE' });
    await new Promise((resolve) => squatter.close(resolve));
    await start();
  });

  it('leaves nothing open if its metrics port is taken', async () => {
    const squatter = createServer();
    await new Promise<void>((resolve) => squatter.listen(0, '127.0.0.1', resolve));
    const { port } = squatter.address() as { port: number };
    await expect(start({ RELAY_METRICS_PORT: String(port) })).rejects.toMatchObject({ code: 'EADDRINUSE' });
    await new Promise((resolve) => squatter.close(resolve));
    await start();
  });

  it('leaves nothing open if it cannot open its admin socket', async () => {
    const path = join(folder, 's'.repeat(100));
    await expect(start({ RELAY_KEY_ADMIN_SOCKET: path })).rejects.toThrow(
      'is too long: set RELAY_KEY_ADMIN_SOCKET',
    );
    // The failed start has released the database and the key ring, so the next start succeeds.
    const relay = await start();
    expect((await fetch(`${relay.url}/health/ready`)).status).toBe(200);
  });

  it('reports that it must be restarted with the new identity file after a rewrap', async () => {
    const relay = await start();
    const next = join(folder, 'next-identity.txt');
    const rewrap = ['keys', 'rewrap', '--to-identity-file', next, '--yes'];
    expect(await runRelayCommand(rewrap, { environment })).toMatchObject({ status: 0 });
    environment = { ...environment, RELAY_KEY_RING_IDENTITY_FILE: next };
    const refused = await runRelayCommand(['keys', 'verify'], { environment });
    expect(refused.status).toBe(1);
    expect(refused.stderr).toMatch(/The running relay says: .* set RELAY_KEY_RING_IDENTITY_FILE.* restart/);
    await relay.close();
    await start();
    expect(await runRelayCommand(['keys', 'verify'], { environment })).toMatchObject({ status: 0 });
  });

  it('reports how to create a missing key ring', async () => {
    const place = join(folder, 'no-such-ring.age');
    await expect(start({ RELAY_KEY_RING: place })).rejects.toThrow('create one with waxwing-relay keys init');
  });

  it('exits with status 1 and every problem on standard error', async () => {
    const { status, stdout, stderr } = await runRelayCommand(['serve'], {
      environment: { RELAY_PORT: 'x', RELAY_LOG_LEVEL: 'loud' },
    });
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    for (const problem of [
      'RELAY_PORT is "x"',
      'RELAY_LOG_LEVEL is "loud"',
      'RELAY_KEY_RING_IDENTITY_FILE',
    ]) {
      expect(stderr).toContain(problem);
    }
  });
});
