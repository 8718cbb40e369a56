import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { transformWithOxc } from 'vite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Constellation, type ConstellationUser } from '../support/constellation.js';
import { freePort } from '../support/free-ports.js';
import { runJsonCommand } from '../support/spawned-process.js';

const root = join(import.meta.dirname, '../..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');

/** The code of all blocks for one kind of reader, in the order of the page. */
function codeFor(readers: string): string {
  const blocks = [...readme.matchAll(/<!-- run by a test: ([a-z ]+) -->\n```\w+\n([\s\S]*?)```/g)];
  const code = blocks.filter(([, marked]) => marked === readers).map(([, , text]) => text);
  expect(code.length).toBeGreaterThan(0);
  return code.join('\n');
}

let dir: string;
let world: Constellation;
let child: ChildProcess | undefined;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'waxwing-readme-'));
  for (const folder of ['lib', 'etc', 'backups']) mkdirSync(join(dir, folder), { mode: 0o700 });
  world = await Constellation.create();
  await Promise.all([world.startRelay(), world.startServer()]);
}, 60_000);

afterAll(async () => {
  if (child?.exitCode === null) child.kill('SIGKILL');
  await world.close();
  rmSync(dir, { recursive: true, force: true });
});

// Each background command gets its own process group, so that processes started by npx end with it.
const endJobs = `set -m; trap 'for job in $(jobs -p); do kill -- -$job; done' EXIT`;

/** Runs a shell block in a copy of the checkout, with the test's paths instead of the system's. */
async function runShell(code: string, env: Record<string, string>, invitation = ''): Promise<string> {
  const script = code
    .replaceAll('https://relay.example.com', world.relayUrl)
    .replaceAll('--invitation CODE', `--invitation ${invitation}`)
    .replaceAll('/var/lib/waxwing', join(dir, 'lib'))
    .replaceAll('/etc/waxwing', join(dir, 'etc'))
    .replaceAll('/var/backups', join(dir, 'backups'));
  const { PATH = '', HOME = '' } = process.env;
  child = spawn('bash', ['-euc', `${endJobs}\n${script}`], {
    cwd: root,
    env: { PATH, HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      output += chunk.toString('utf8');
    });
  }
  await once(child, 'close');
  expect(output).not.toContain('npm error');
  return `${output}\nexit ${child.exitCode}`;
}

describe('the README', () => {
  it('has code for app developers that registers a phone and opens its notifications', async () => {
    const { user_id: userId, email, api_key: apiKey } = await world.addUser(`reader-${randomUUID()}`);
    const token = { tokenKind: 'fcm', token: 'fcm-readme-token' };
    const account = { realmUrl: world.serverUrl, userId, email, apiKey };
    const use = `
      const { phone, registrar, status } = await startPush(...JSON.parse(process.env.PUSH));
      await registrar.sendTestNotification();
      const url = process.env.DELIVERIES;
      const { deliveries } = await (await fetch(url)).json();
      const opened = await phone.open(deliveries[0].body.message.data);
      console.log(JSON.stringify([status.code, opened.kind, opened.notification.type]));`;
    const { PATH = '', HOME = '' } = process.env;
    const { code } = await transformWithOxc(codeFor('app developers'), 'readme.ts');
    child = spawn(process.execPath, ['--input-type=module', '--eval', code + use], {
      cwd: join(root, 'packages/client'),
      env: {
        PATH,
        HOME,
        PUSH: JSON.stringify([account, token, world.bouncerPublicKey]),
        DELIVERIES: `${world.vendors.urls.http}/deliveries?token=${token.token}`,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      output += chunk.toString('utf8');
    });
    await once(child, 'close');
    expect(output).toBe('["active","notification","test"]\n');
  }, 60_000);

  it('has commands for relay operators that create, rotate, back up and restore keys', async () => {
    const apps = readFileSync(join(world.dir, 'apps.json'));
    writeFileSync(join(dir, 'etc', 'apps.json'), apps, { mode: 0o600 });
    const output = await runShell(codeFor('relay operators'), { RELAY_PORT: String(await freePort()) });
    expect(output).toMatch(/exit 0$/);
    expect(output).toMatch(/invitation\s+[0-9a-f]{64}/);
    expect(output).toContain('accepted');
    expect(existsSync(join(dir, 'backups', 'waxwing-key-ring.age'))).toBe(true);
  }, 120_000);

  it('has commands for server admins that run a server and enable push', async () => {
    const { invitation } = await runJsonCommand<{ invitation: string }>(
      ...(['waxwing-relay', ['servers', 'invite'], { env: world.relayEnv }] as const),
    );
    const env = { SERVER_PORT: String(await freePort()) };
    const output = await runShell(codeFor('server admins'), env, invitation);
    expect(output).toMatch(/exit 0$/);
    expect(output).toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/);
    expect(output).toMatch(/API key \(shown only once\): [A-Za-z0-9]{32}\b/);
    expect(output).toContain(`joined ${world.relayUrl}, which is in use now.`);
    expect(output).toContain('ok      apps');
  }, 120_000);

  it('has a command for admins that sends a text to a user’s phones', async () => {
    const ada = await runJsonCommand<ConstellationUser>(
      'waxwing-server',
      ['users', 'add', '--email', 'ada@example.com'],
      { env: world.serverEnv },
    );
    const token = { tokenKind: 'fcm', token: 'fcm-readme-of-ada' } as const;
    const phone = await world.phone(ada, token);
    expect(await phone.registrar.sync()).toMatchObject({ code: 'active' });
    const output = await runShell(codeFor('sending admins'), world.serverEnv);
    expect(output).toContain('To 1 device of ada@example.com: 1 sent.');
    const [pushed] = (await world.deliveriesTo(token.token)).map(
      ({ body }) => body as { message: { data: Record<string, string> } },
    );
    expect(await phone.client.open(pushed?.message.data ?? {})).toMatchObject({
      notification: { content: 'Notifications work.' },
    });
  }, 60_000);

  it('links only to existing files', () => {
    const links = [...readme.matchAll(/\]\(([^)#]+)\)/g)].map((match) => match[1] as string);
    expect(links.length).toBeGreaterThan(5);
    expect(links.filter((link) => !existsSync(join(root, link)))).toEqual([]);
  });
});
