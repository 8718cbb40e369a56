import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { readAppsFile } from '#relay/deliveries/apps/read-apps-file.js';
import { findApnsApp } from '#relay/deliveries/vendors/apns/app.js';
import { chooseApp } from '#relay/deliveries/vendors/choose-app.js';

const page = readFileSync(new URL('../../../../docs/relay.md', import.meta.url), 'utf8');
const [, example = ''] = /<!-- read by a test -->\n```json\n([\s\S]*?)```/.exec(page) ?? [];
const dir = mkdtempSync(join(tmpdir(), 'waxwing-relay-page-'));
afterAll(() => rmSync(dir, { recursive: true }));

function write(name: string, content: string): string {
  writeFileSync(join(dir, name), content, { mode: 0o600 });
  return join(dir, name);
}

it('docs/relay.md has an example apps file that the relay accepts', async () => {
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  for (const project of ['our-app', 'their-app']) {
    const account = {
      type: 'service_account',
      project_id: project,
      private_key_id: 'id',
      private_key: rsa.export({ type: 'pkcs8', format: 'pem' }),
      client_email: `sender@${project}.iam.gserviceaccount.com`,
      token_uri: 'https://oauth2.googleapis.com/token',
    };
    write(`${project}.json`, JSON.stringify(account));
  }
  for (const id of ['KEY1234567', 'KEY7654321']) {
    write(`AuthKey_${id}.p8`, ec.export({ type: 'pkcs8', format: 'pem' }).toString());
  }
  const apps = await readAppsFile(write('apps.json', example));
  const nobody = '00000000-0000-4000-8000-000000000000';
  expect(chooseApp(apps.fcm, nobody, nobody)?.projectId).toBe('our-app');
  expect(chooseApp(apps.fcm, nobody, '9aa61d0b-8ce5-488d-8e9e-fedc346e6836')?.projectId).toBe('their-app');
  expect(chooseApp(apps.fcm, '7d3f5a58-52f0-4a4b-9d0b-0c6bb1b0ad0e', nobody)?.projectId).toBe('their-app');
  expect(findApnsApp(apps, 'org.example.App.beta')?.keyId).toBe('KEY1234567');
  expect(findApnsApp(apps, 'com.example.Other')?.keyId).toBe('KEY7654321');
});

it('docs/relay.md describes exactly the fields that the parser accepts', async () => {
  const rows = [...page.matchAll(/^\| ((?:`\w+`(?:, )?)+) \|/gm)].flatMap(([, names = '']) =>
    [...names.matchAll(/`(\w+)`/g)].map(([, name]) => name as string),
  );
  const source = readFileSync(
    new URL('../../../../apps/relay/src/deliveries/apps/read-apps-file.ts', import.meta.url),
    'utf8',
  );
  const fields = [...source.matchAll(/const \w+Entry = z\.strictObject\(\{\n([\s\S]*?)\n\}\);/g)].flatMap(
    ([, body = '']) => [...body.matchAll(/^ {2}(\w+):/gm)].map(([, name]) => name as string),
  );
  expect(fields.length).toBeGreaterThan(6);
  expect(rows.sort()).toEqual(fields.sort());
});
