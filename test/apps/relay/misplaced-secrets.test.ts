import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import fc from '../../support/fast-check.js';
import { runRelayCommand } from './command-line-under-test.js';
import { keyTerminal } from './keyring/key-terminal.js';

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const textOf = (alphabet: string, length: number) =>
  fc.array(fc.constantFrom(...alphabet), { minLength: length, maxLength: length }).map((all) => all.join(''));
/** Secrets that users may paste by mistake. Each has a part that must not be shown. */
const secrets = fc.oneof(
  fc.constantFrom(32, 48).map((size) => randomBytes(size).toString('hex')),
  fc.constantFrom(30, 32, 33).map((size) => `q${randomBytes(size).toString('base64')}`),
  textOf('QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L', 58).map((text) => `AGE-SECRET-KEY-1${text}`),
  textOf(letters, 64).map((text) => `-----BEGIN PRIVATE KEY-----\n${text}\n-----END PRIVATE KEY-----\n`),
  textOf(letters, 64).map((text) => `{"type":"service_account","private_key":"${text}"}`),
  fc.array(textOf(letters, 6), { minLength: 6, maxLength: 6 }).map((words) => words.join(' ')),
);

/** Commands and settings that take the path of a secret file. */
const places: Record<string, (secret: string) => { argv: string[]; settings?: Record<string, string> }> = {
  RELAY_KEY_RING_IDENTITY_FILE: (secret) => ({
    argv: ['keys', 'list'],
    settings: { RELAY_KEY_RING_IDENTITY_FILE: secret },
  }),
  RELAY_KEY_RING_PASSPHRASE_FILE: (secret) => ({
    argv: ['keys', 'init'],
    settings: {
      RELAY_KEY_RING: '/nowhere/ring.age',
      RELAY_KEY_RING_IDENTITY_FILE: '',
      RELAY_KEY_RING_PASSPHRASE_FILE: secret,
    },
  }),
  RELAY_APPS_FILE: (secret) => ({ argv: ['apps', 'check'], settings: { RELAY_APPS_FILE: secret } }),
  'keys import': (secret) => ({ argv: ['keys', 'import', secret] }),
  '--recovery-key': (secret) => ({
    argv: ['keys', 'rotate-signing-key', '--recovery-key', secret, '--yes'],
  }),
  '--to-passphrase-file': (secret) => ({ argv: ['keys', 'rewrap', '--to-passphrase-file', secret, '--yes'] }),
  key_file: (secret) => ({ argv: ['apps', 'check'], settings: { RELAY_APPS_FILE: `key_file ${secret}` } }),
  service_account_file: (secret) => ({
    argv: ['apps', 'check'],
    settings: { RELAY_APPS_FILE: `service_account_file ${secret}` },
  }),
};

it.each(Object.keys(places))('%s never shows a secret that is given instead of a path', async (place) => {
  const { folder, environment } = keyTerminal();
  await runRelayCommand(['keys', 'init'], { environment });
  await fc.assert(
    fc.asyncProperty(secrets, async (secret) => {
      const { argv, settings = {} } = places[place]?.(secret) ?? { argv: [] };
      const [field = '', given] = settings.RELAY_APPS_FILE?.split(/ (.*)/s) ?? [];
      if (field.endsWith('_file')) {
        settings.RELAY_APPS_FILE = writeApps(folder, field, given ?? '');
      }
      const ran = await runRelayCommand(argv, { environment: { ...environment, ...settings } });
      expect(ran.status).toBeGreaterThan(0);
      const [part = ''] = secret.split('\n').sort((a, b) => b.length - a.length);
      expect(`${ran.stdout}${ran.stderr}`).not.toContain(part.slice(-24));
      expect(ran.stderr).toContain('not shown');
    }),
    { numRuns: 30 },
  );
});

function writeApps(folder: string, field: string, path: string): string {
  const fcm = { service_account_file: path };
  const apns = { team_id: 'TEAM000001', key_id: 'KEY0000001', key_file: path, topics: '*' };
  const file = join(folder, 'apps.json');
  writeFileSync(file, JSON.stringify(field === 'key_file' ? { apns: [apns] } : { fcm: [fcm] }), {
    mode: 0o600,
  });
  return file;
}

it('a wrong path is shown', async () => {
  const { folder, environment } = keyTerminal();
  mkdirSync(join(folder, 'keys'));
  for (const path of [join(folder, 'keys', 'identity'), 'identity.txt', 'nowhere/key.pem']) {
    const { stderr } = await runRelayCommand(['keys', 'list'], {
      environment: { ...environment, RELAY_KEY_RING_IDENTITY_FILE: path },
    });
    expect(stderr).not.toContain('not shown');
  }
  expect(readdirSync(folder)).not.toContain('identity');
});
