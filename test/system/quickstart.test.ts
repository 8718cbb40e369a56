import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { relayNotifyPath, relayRegisterPath, stringifyJson } from '@waxwing/protocol';
import { loadFastestSodium } from '@waxwing/sodium/native';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../support/free-ports.js';
import { runCommand, runJsonCommand, SpawnedProcess } from '../support/spawned-process.js';
import { takeInAnotherProcess } from '../support/take-database.js';
import { ask, basicAuthorization } from './crash/ask.js';
import { CrashPhone } from './crash/crash-phone.js';

interface QuickstartFile {
  readonly relay: {
    readonly url: string;
    readonly server_id: string;
    readonly server_key: string;
    readonly bouncer_public_key: string;
    readonly signing_public_key: string;
    readonly recovery_public_key: string;
    readonly vapid_public_key: string;
    readonly env: Record<string, string>;
  };
  readonly server: {
    readonly url: string;
    readonly realm_uuid: string;
    readonly users: { user_id: number; email: string; api_key: string; role: number; is_bot: boolean }[];
    readonly env: Record<string, string>;
  };
  readonly vendors: { readonly url: string };
}

// The quickstart uses ports from --port-base up to twenty-three ports above it.
const portsOfQuickstart = 24;

/** A data directory and ports for a quickstart. */
interface Place {
  readonly dir: string;
  readonly portBase: string;
}
interface Running {
  readonly process: SpawnedProcess;
  readonly facts: QuickstartFile;
}

const folders: string[] = [];
const started: SpawnedProcess[] = [];
let sharedPlace: Place;
let shared: Running | undefined;

beforeAll(async () => {
  sharedPlace = await newPlace();
});
afterAll(async () => {
  await Promise.all(started.map((process) => process.end('SIGKILL')));
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

async function newPlace(): Promise<Place> {
  const dir = mkdtempSync(join(tmpdir(), 'waxwing-quickstart-'));
  folders.push(dir);
  return { dir, portBase: String(await freePort(portsOfQuickstart)) };
}

const flags = ({ dir, portBase }: Place, ...more: string[]): string[] => [
  '--data-dir',
  dir,
  '--port-base',
  portBase,
  ...more,
];
const fileOf = ({ dir }: Place): string => join(dir, 'quickstart.json');

/** Returns a quickstart that most tests share, because starting one takes longer than most tests. */
async function running(): Promise<Running> {
  if (shared === undefined || shared.process.hasExited) shared = await start(sharedPlace);
  return shared;
}

/**
 * Starts the quickstart, and waits for the file that it writes once everything is ready and the journey has succeeded.
 */
async function start(place: Place, ...more: string[]): Promise<Running> {
  const startedAt = Date.now();
  const quickstart = new SpawnedProcess('waxwing-quickstart', flags(place, ...more));
  started.push(quickstart);
  const file = fileOf(place);
  // The file of an earlier start exists until the new start removes it.
  const writtenAt = () => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  while (writtenAt() < startedAt) {
    if (quickstart.hasExited) throw new Error(`it ended: ${quickstart.output}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return { process: quickstart, facts: JSON.parse(readFileSync(file, 'utf8')) as QuickstartFile };
}

const ownerOf = ({ server: { users } }: QuickstartFile): string =>
  basicAuthorization(users[0]?.email ?? '', users[0]?.api_key ?? '');

interface RegisteredAtRelay {
  readonly deviceId: number;
  readonly pushAccountId: string;
}

/** Registers phones with the relay as a server does. Returns the device ids from the relay's response. */
async function registerAtRelay(
  { relay, server }: QuickstartFile,
  count: number,
): Promise<RegisteredAtRelay[]> {
  const { sodium } = await loadFastestSodium();
  const devices: RegisteredAtRelay[] = [];
  while (devices.length < count) {
    const phone = new CrashPhone({ sodium, bouncerPublicKey: relay.bouncer_public_key, kind: 'fcm' });
    const form = new URLSearchParams({
      realm_uuid: server.realm_uuid,
      push_account_id: phone.pushAccountId,
      encrypted_push_registration: phone.sealedRegistration,
      bouncer_public_key: phone.bouncerPublicKey,
    });
    const authorization = basicAuthorization(relay.server_id, relay.server_key);
    const asked = await ask(relay.url + relayRegisterPath, authorization, form);
    expect(asked.status).toBe(200);
    devices.push({ deviceId: Number(asked.body.device_id), pushAccountId: phone.pushAccountId });
  }
  return devices;
}

/** Notifies each of the relay's devices. Returns the status of each notification. */
async function notifyAtRelay({ relay, server }: QuickstartFile, devices: readonly RegisteredAtRelay[]) {
  const requests = devices.map(({ deviceId, pushAccountId }) => ({
    device_id: deviceId,
    fcm_priority: 'high',
    payload: { push_account_id: BigInt(pushAccountId), encrypted_data: 'AAAA' },
  }));
  const content = stringifyJson({ realm_uuid: server.realm_uuid, push_requests: requests });
  const authorization = basicAuthorization(relay.server_id, relay.server_key);
  const asked = await ask(relay.url + relayNotifyPath, authorization, content);
  return (asked.body.results as { status: string }[] | undefined)?.map(({ status }) => status);
}

describe('the quickstart', () => {
  it('narrates a journey, keeps all programs running, and writes working addresses and credentials', async () => {
    const { process, facts } = await running();
    expect(statSync(fileOf(sharedPlace)).mode & 0o777).toBe(0o600);
    await expect.poll(() => process.output).toContain('The journey of one notification');
    await expect.poll(() => process.output).toContain('Notifications are on for this phone.');
    expect(process.output).toMatch(/read: \{"type":"message".*this is for your eyes alone/);
    expect(facts.server.users).toMatchObject([
      { email: 'owner@quickstart.example', role: 100, is_bot: false },
      { email: 'member@quickstart.example', role: 400, is_bot: false },
      { email: 'bot@quickstart.example', role: 400, is_bot: true },
    ]);
    const users = await runJsonCommand<{ users: object[] }>('waxwing-server', ['users', 'list'], {
      env: facts.server.env,
    });
    // The fourth user is the owner of the phone.
    expect(users.users).toHaveLength(4);
    const { keys } = await runJsonCommand<{ keys: { public_key: string }[] }>(
      'waxwing-relay',
      ['keys', 'list'],
      {
        env: facts.relay.env,
      },
    );
    expect(keys.map(({ public_key }) => public_key)).toEqual([facts.relay.bouncer_public_key]);
    const deliveries = await (await fetch(`${facts.vendors.url}/deliveries`)).json();
    expect(deliveries).toMatchObject({ deliveries: [{ vendor: 'fcm' }] });
  }, 60_000);

  it('prints working commands that edit a message, show its event, and notify the phone', async () => {
    const { process } = await running();
    await expect.poll(() => process.output).toContain('which it shows below');
    const printed = process.output.slice(process.output.indexOf('Try it yourself'));
    const page = await fetch(/open (\S+) in a browser/.exec(printed)?.[1] ?? '');
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('Waxwing Quickstart')]);
    const commands = printed.split('\n').filter((line) => /^ +curl /.test(line));
    const answers: { result: string; events?: object[] }[] = [];
    for (const command of commands) {
      const { stdout } = await promisify(execFile)('bash', ['-c', command], { cwd: tmpdir() });
      answers.push(JSON.parse(stdout));
    }
    expect(answers).toMatchObject([
      { result: 'success' },
      { result: 'success', events: [{ type: 'update_message', content: 'Hello again' }] },
      { result: 'success' },
    ]);
    await expect
      .poll(() => process.output)
      .toMatch(/read: \{"type":"message".*"content":"@Visitor look here"/);
  }, 60_000);

  it('works with the phone program in docs/client.md, which registers and opens a notification', async () => {
    const { facts } = await running();
    expect(facts.relay.recovery_public_key).toMatch(/^[A-Za-z0-9+/]{43}=$/);
    expect(facts.relay.vapid_public_key).toMatch(/^B[\w-]{86}$/);
    const page = readFileSync(join(import.meta.dirname, '../../docs/client.md'), 'utf8');
    const [, program = ''] = /run by a test: npm start -->\n```js\n(.*?)^```$/ms.exec(page) ?? [];
    const cwd = join(import.meta.dirname, '../../packages/client');
    const phone = promisify(execFile)(process.execPath, ['--input-type=module', '-', fileOf(sharedPlace)], {
      cwd,
    });
    phone.child.stdin?.end(program);
    const { stdout } = await phone;
    expect(stdout).toContain("code: 'active'");
    expect(stdout).toContain("keySource: 'key-list'");
    expect(stdout).toContain("kind: 'notification'");
    expect(stdout).toContain("type: 'test'");
  }, 60_000);

  it('does not disturb a running quickstart in the same data directory, even with other ports', async () => {
    const { facts } = await running();
    const otherPorts = { ...sharedPlace, portBase: String(await freePort(portsOfQuickstart)) };
    for (const place of [sharedPlace, otherPorts]) {
      const second = await runCommand('waxwing-quickstart', flags(place, '--once'));
      expect([second.status, second.stderr.trim()]).toEqual([
        1,
        `quickstart: the data directory ${place.dir} is in use by another quickstart: stop that one, or choose another with --data-dir.`,
      ]);
      expect(JSON.parse(readFileSync(fileOf(place), 'utf8'))).toEqual(facts);
    }
  }, 60_000);

  it('restarts after kill -9 with the same users, keys and acknowledged data, even if another program opened its databases', async () => {
    const { process, facts } = await running();
    const databases = ['relay.sqlite', 'server.sqlite'].map((name) => join(sharedPlace.dir, name));
    const taken = await Promise.all(databases.map(takeInAnotherProcess));
    const devices = await registerAtRelay(facts, 5);
    const queueUrl = `${facts.server.url}/api/v1/register`;
    const queue = await ask(queueUrl, ownerOf(facts), new URLSearchParams({ event_types: '[]' }));
    expect(queue.status).toBe(200);
    await process.end('SIGKILL');
    const again = await running();
    expect(again.facts).toEqual(facts);
    expect(await notifyAtRelay(facts, devices)).toEqual(devices.map(() => 'sent'));
    const query = new URLSearchParams({ queue_id: String(queue.body.queue_id), last_event_id: '-1' });
    const events = await fetch(`${facts.server.url}/api/v1/events?${query}&dont_block=true`, {
      headers: { authorization: ownerOf(facts) },
    });
    expect(await events.json()).toMatchObject({ result: 'success' });
    expect(taken).toEqual(['refused', 'refused']);
    expect(await again.process.end('SIGTERM')).toBe(0);
  }, 90_000);

  it('exits after the journey with --once, and removes an earlier start’s file before it fails', async () => {
    const place = await newPlace();
    const port = Number(place.portBase) + 10;
    writeFileSync(fileOf(place), '{"stale":true}');
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(port, '127.0.0.1', resolve));
    const refused = await runCommand('waxwing-quickstart', flags(place, '--once'));
    await new Promise<void>((resolve) => taken.close(() => resolve()));
    expect(refused.status).toBe(1);
    expect(refused.stderr.trim().split('\n')).toEqual([
      `quickstart: port ${port} (relay) is in use: stop what uses it, or choose other ports with --port-base.`,
    ]);
    expect(existsSync(fileOf(place))).toBe(false);
    expect((await runCommand('waxwing-quickstart', flags(place, '--once'))).status).toBe(0);
    expect(existsSync(fileOf(place))).toBe(true);
  }, 90_000);

  it('leaves the server without a relay on request', async () => {
    const { process, facts } = await start(await newPlace(), '--without-relay');
    await expect.poll(() => process.output).toContain('answered PUSH_SERVICE_NOT_CONFIGURED');
    expect(facts.server.env).not.toHaveProperty('SERVER_RELAY_URL');
    const [owner] = facts.server.users;
    const response = await fetch(`${facts.server.url}/api/v1/mobile_push/register`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`${owner?.email}:${owner?.api_key}`)}` },
      body: new URLSearchParams({
        token_kind: 'fcm',
        push_account_id: '1',
        push_public_key: 'x',
        bouncer_public_key: 'x',
        encrypted_push_registration: 'x',
      }),
    });
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { code: 'PUSH_SERVICE_NOT_CONFIGURED' },
    ]);
  }, 60_000);

  it('explains its flags, and rejects invalid ones', async () => {
    expect((await runCommand('waxwing-quickstart', ['--help'])).stdout).toContain('--port-base');
    const refused = await runCommand('waxwing-quickstart', ['--port-base', '80']);
    expect([refused.status, refused.stderr]).toEqual([1, expect.stringContaining('from 1024 to 65512')]);
  });
});
