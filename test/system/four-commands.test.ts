import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createMemoryPushAccountStore,
  createMemorySeenNotifications,
  createPushClient,
} from '@waxwing/client';
import { startVendors, type Vendors } from '@waxwing/vendors';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type ConstellationUser, relayEnvironment, serverEnvironment } from '../support/constellation.js';
import { freePort } from '../support/free-ports.js';
import { runCommand, runJsonCommand, SpawnedProcess } from '../support/spawned-process.js';

const readme = readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8');
const limitMilliseconds = 60_000;

/** Load per CPU core, at least 1. Multiplies time limits on a busy machine. */
const slowdown = () => Math.max(1, (loadavg()[0] ?? 0) / availableParallelism());

/** The program's commands in the first code block of the README that contains `first`, each as a list of arguments. */
function commandsOf(program: string, first: string): string[][] {
  const blocks = [...readme.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = '']) => block);
  const block = blocks.find((each) => each.includes(`${program} ${first}`)) ?? '';
  const lines = [...block.matchAll(new RegExp(`^npx --no-install ${program} (.*?)(?: &)?$`, 'gm'))];
  return lines.map(([, line = '']) =>
    (line.match(/"[^"]*"|\S+/g) ?? []).map((word) => word.replaceAll('"', '')),
  );
}

let dir: string;
let vendors: Vendors;
const running: SpawnedProcess[] = [];

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'waxwing-four-commands-'));
  vendors = await startVendors({ dataDir: join(dir, 'vendors') });
}, 30_000);
afterEach(async () => {
  await Promise.all(running.map((each) => each.end('SIGKILL')));
  await vendors.close();
  rmSync(dir, { recursive: true, force: true });
});

it('three operator commands and one admin command of the README lead to a notification on a phone', async () => {
  const [operatorDir, adminDir] = ['operator-', 'admin-'].map((name) => mkdtempSync(join(dir, name))) as [
    ...[string, string],
  ];
  const port = await freePort(2);
  const relayEnv = relayEnvironment(operatorDir, port, vendors);
  const serverEnv = serverEnvironment(adminDir, port + 1);
  const [relayUrl, serverUrl] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${port + 1}`];

  const operator = commandsOf('waxwing-relay', 'keys init');
  expect(operator.map((words) => words.slice(0, 2))).toEqual([
    ['keys', 'init'],
    ['servers', 'invite'],
    ['serve'],
  ]);
  const [init = [], invite = [], serve = []] = operator;
  const enable = commandsOf('waxwing-server', 'push enable').filter(([, name]) => name === 'enable');
  expect(enable).toHaveLength(1);

  const began = performance.now();
  const keys = await runJsonCommand<{ bouncer_public_key: string }>(
    ...([
      'waxwing-relay',
      init.map((word) => word.replace('/etc/waxwing', operatorDir)),
      { env: relayEnv },
    ] as const),
  );
  const { invitation } = await runJsonCommand<{ invitation: string }>('waxwing-relay', invite, {
    env: relayEnv,
  });
  const relay = new SpawnedProcess('waxwing-relay', serve, { env: relayEnv });
  running.push(relay);

  // Creates the only user of the chat server.
  const ada = await runJsonCommand<ConstellationUser>(
    ...([
      'waxwing-server',
      ['users', 'add', '--email', 'ada@example.org', '--name', 'Ada', '--role', 'owner'],
      { env: serverEnv },
    ] as const),
  );
  const server = new SpawnedProcess('waxwing-server', ['serve'], { env: serverEnv });
  running.push(server);
  await Promise.all([relay.readyAt(`${relayUrl}/health/live`), server.readyAt(`${serverUrl}/health/live`)]);

  const words = enable[0]?.map((word) => word.replace('https://relay.example.com', relayUrl)) ?? [];
  const enabled = await runCommand(
    ...([
      'waxwing-server',
      words.map((word) => (word === 'CODE' ? invitation : word)),
      { env: serverEnv },
    ] as const),
  );
  expect([enabled.status, enabled.stdout]).toEqual([0, expect.stringContaining('which is in use now')]);

  const token = 'fcm-four-commands';
  const phone = await createPushClient({
    bouncerPublicKey: keys.bouncer_public_key,
    pushToken: () => ({ tokenKind: 'fcm', token }),
    accounts: createMemoryPushAccountStore(),
    seen: createMemorySeenNotifications(),
  });
  const { user_id: userId, email, api_key: apiKey } = ada;
  const registrar = phone.registrar({ realmUrl: serverUrl, userId, email, apiKey });
  // The running server detects its new account at the relay within seconds.
  await expect.poll(async () => (await registrar.sync()).code, { timeout: 30_000 }).toBe('active');
  await registrar.sendTestNotification();
  const response = await fetch(`${vendors.urls.http}/deliveries?token=${token}`);
  const { deliveries } = (await response.json()) as {
    deliveries: { body: { message: { data: Record<string, string> } } }[];
  };
  const opened = await phone.open(deliveries[0]?.body.message.data ?? {});
  expect(opened).toMatchObject({ kind: 'notification', notification: { type: 'test' } });
  expect(performance.now() - began).toBeLessThan(limitMilliseconds * slowdown());
}, 120_000);
