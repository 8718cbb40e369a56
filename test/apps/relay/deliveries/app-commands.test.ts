import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Secret } from '@waxwing/service/config';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BreakerStore } from '#relay/deliveries/breakers/breaker-store.js';
import { openRelayDatabase } from '#relay/open-database.js';
import { runRelayCommand } from '../command-line-under-test.js';

const app = 'fcm:some-project';
let dir = '';
let environment: Record<string, string> = {};
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'waxwing-apps-'));
  environment = { RELAY_DATABASE: `sqlite:${join(dir, 'relay.sqlite')}` };
});
afterEach(() => rmSync(dir, { recursive: true }));

async function openBreakers(): Promise<void> {
  const url = new Secret(environment.RELAY_DATABASE ?? '');
  const clock = () => 1_773_000_000_000;
  const database = await openRelayDatabase({ url, clock, role: 'visiting', onJobError: () => undefined });
  const store = new BreakerStore(database);
  await store.open({
    app,
    kind: 'deletion',
    scope: 'realm one',
    reason: '21 of the last 30 tokens were reported dead',
    at: clock(),
  });
  await store.open({ app, kind: 'credential', reason: 'the key was refused', at: clock() });
  await database.close();
}

function write(name: string, text: string, mode = 0o600): string {
  writeFileSync(join(dir, name), text, { mode });
  return join(dir, name);
}

/** Writes an apps file with a service account. Returns its path. */
function writeApps(): string {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const account = {
    type: 'service_account',
    project_id: 'some-project',
    private_key_id: 'k1',
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    client_email: 'a@some-project.iam.gserviceaccount.com',
    token_uri: 'https://oauth2.googleapis.com/token',
  };
  write('account.json', JSON.stringify(account));
  return write('apps.json', JSON.stringify({ fcm: [{ service_account_file: 'account.json' }] }));
}

describe('waxwing-relay apps', () => {
  it('shows open circuit breakers as text and as JSON', async () => {
    await runRelayCommand(['db', 'migrate'], { environment });
    environment.RELAY_APPS_FILE = writeApps();
    expect(await runRelayCommand(['apps', 'status'], { environment })).toMatchObject({
      status: 0,
      stdout: 'No circuit breaker is open.',
    });
    await openBreakers();
    const { stdout } = await runRelayCommand(['apps', 'status'], { environment });
    expect(stdout).toContain('deletions frozen');
    expect(stdout).toContain('realm one');
    expect(stdout).toContain('the key was refused');
    const json = await runRelayCommand(['apps', 'status', '--json'], { environment });
    expect(JSON.parse(json.stdout)).toEqual({
      apps: [
        expect.objectContaining({
          app,
          whose: 'all',
          state: 'credential refused',
          reason: 'the key was refused',
        }),
        expect.objectContaining({ app, whose: 'realm one', state: 'deletions frozen', confirmed_at: null }),
      ],
      unchecked: null,
    });
  });

  it('filters circuit breakers by text and limits their number', async () => {
    environment.RELAY_APPS_FILE = writeApps();
    await openBreakers();
    const shown = async (...argv: readonly string[]) => {
      const { stdout } = await runRelayCommand(['apps', 'status', ...argv, '--json'], { environment });
      return (JSON.parse(stdout) as { apps: { state: string }[] }).apps.map(({ state }) => state);
    };
    expect(await shown('SOME-project')).toEqual(['credential refused', 'deletions frozen']);
    expect(await shown('realm ONE')).toEqual(['deletions frozen']);
    expect(await shown('key was')).toEqual(['credential refused']);
    expect(await shown('--limit', '1')).toEqual(['credential refused']);
    expect((await runRelayCommand(['apps', 'status', 'other'], { environment })).stdout).toBe(
      'No circuit breaker or outage has "other" in its app, realm, server or reason.',
    );
  });

  it.each([
    ['is not set', () => undefined, 'RELAY_APPS_FILE is not set here'],
    ['is missing', () => join(dir, 'none.json'), 'does not exist'],
    ['is damaged', async () => write('damaged.json', '{'), 'damaged.json'],
    ['may be read by others', async () => write('open.json', '{}', 0o644), 'chmod 600'],
    [
      'names a missing key',
      async () => write('apps.json', JSON.stringify({ fcm: [{ service_account_file: 'no.json' }] })),
      'no.json',
    ],
  ])(
    'status fails if the apps file %s, even if no circuit breaker is open',
    async (_, makeFile, sentence) => {
      await runRelayCommand(['db', 'migrate'], { environment });
      const file = await makeFile();
      const given = file === undefined ? environment : { ...environment, RELAY_APPS_FILE: file };
      const { status, stdout, stderr } = await runRelayCommand(['apps', 'status'], { environment: given });
      expect([status, stdout]).toEqual([1, 'The database records no open circuit breaker.']);
      expect(stderr).toContain(sentence);
      const json = await runRelayCommand(['apps', 'status', '--json'], { environment: given });
      expect(JSON.parse(json.stdout)).toEqual({ apps: [], unchecked: expect.stringContaining(sentence) });
    },
  );

  it('confirms only frozen deletions, and only after consent', async () => {
    await openBreakers();
    const argv = ['apps', 'confirm-deletions', app];
    expect(await runRelayCommand(argv, { environment, answer: false })).toMatchObject({
      status: 1,
      stderr: 'waxwing-relay: Nothing was changed.',
    });
    expect((await runRelayCommand([...argv, '--yes'], { environment })).status).toBe(0);
    expect((await runRelayCommand(['apps', 'status'], { environment })).stdout).toContain(
      'deletions confirmed',
    );
    const again = await runRelayCommand([...argv, '--yes'], { environment });
    expect(again.status).toBe(1);
    expect(again.stderr).toContain(`The deletions of "${app}" are not frozen`);
  });
});
