import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { addVapidKeys } from '#relay/keyring/vapid/vapid-keys.js';
import { type CommandRun, commandClock, runRelayCommand } from '../command-line-under-test.js';
import { type RingOnDisk, ringOnDisk } from './ring-material.js';

const dir = mkdtempSync(join(tmpdir(), 'waxwing-vapid-'));
const appsFile = join(dir, 'apps.json');
let ring: RingOnDisk;
let environment: Record<string, string>;

beforeAll(async () => {
  ring = await ringOnDisk(undefined, commandClock);
  environment = {
    ...ring.environment,
    RELAY_DATABASE: `sqlite:${join(dir, 'relay.sqlite')}`,
    RELAY_APPS_FILE: appsFile,
  };
  const apps = { webpush: [{ name: 'web', contact: 'mailto:operator@relay.example', hosts: '*' }] };
  writeFileSync(appsFile, JSON.stringify(apps), { mode: 0o600 });
  await runRelayCommand(['db', 'migrate'], { environment });
});
afterAll(() => {
  for (const folder of [dir, ring.folder]) rmSync(folder, { recursive: true });
});

const run = (argv: readonly string[], answer?: boolean): Promise<CommandRun> =>
  runRelayCommand(['apps', ...argv], { environment, ...(answer !== undefined && { answer }) });

it('the commands for VAPID keys print public halves, report an app without a key, and destroy a key', async () => {
  expect((await run(['vapid'])).stdout).toContain('The key ring has no VAPID key');
  const missing = await run(['check']);
  expect(missing.status).toBe(1);
  expect(missing.stdout).toContain('webpush:web: the key ring has no VAPID key for this app');

  const change = { actor: 'test', action: 'add' };
  const changed = await ring.keeper.change((found) => addVapidKeys(found, ['web'], commandClock()), change);
  const [key] = changed.ring.vapidKeys;
  expect((await run(['vapid'])).stdout).toContain(key?.publicKey);
  const { stdout } = await run(['vapid', '--json']);
  expect(JSON.parse(stdout)).toEqual({
    keys: [{ app: 'web', public_key: key?.publicKey, created_at: new Date(commandClock()).toISOString() }],
  });
  const found = await run(['vapid', 'WEB', '--json', '--limit', '1']);
  expect(found.stdout).toBe(stdout);
  expect((await run(['vapid', 'other'])).stdout).toBe('No VAPID key has "other" in its app or key.');
  expect(stdout).not.toContain(Buffer.from(key?.privateKey.reveal() ?? []).toString('base64url'));
  expect((await run(['check'])).stdout).toContain('ok      webpush:web');

  expect((await run(['remove-vapid', 'other'], true)).stderr).toContain('no VAPID key for "other"');
  await run(['remove-vapid', 'web'], false);
  expect((await ring.keeper.read()).ring.vapidKeys).toHaveLength(1);
  const removed = await run(['remove-vapid', 'web'], true);
  expect(removed.questions.join()).toContain('every phone that subscribed with it must subscribe again');
  expect(removed.stdout).toContain('VAPID key of web destroyed');
  expect((await ring.keeper.read()).ring.vapidKeys).toEqual([]);
});

it('a key ring that moves to another location keeps its VAPID keys', async () => {
  const change = { actor: 'test', action: 'add' };
  const { ring: before } = await ring.keeper.change(
    (found) => addVapidKeys(found, ['web'], commandClock()),
    change,
  );
  const path = join(dir, 'moved.age');
  const moved = await runRelayCommand(['keys', 'move', '--to', `file:${path}`, '--yes'], { environment });
  expect(moved).toMatchObject({ status: 0 });
  environment.RELAY_KEY_RING = path;
  const { stdout } = await run(['vapid', '--json']);
  expect(JSON.parse(stdout).keys).toMatchObject([{ public_key: before.vapidKeys[0]?.publicKey }]);
});
