import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startVendors, type Vendors } from '@waxwing/vendors';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { commandClock, runRelayCommand } from '../command-line-under-test.js';
import { type RingOnDisk, ringOnDisk } from '../keyring/ring-material.js';
import { appsFor, topic } from './deliveries-under-test.js';

const dir = mkdtempSync(join(tmpdir(), 'waxwing-apps-check-'));
const appsFile = join(dir, 'apps.json');
let vendors: Vendors;
let ring: RingOnDisk;
let environment: Record<string, string> = {};
beforeAll(async () => {
  vendors = await startVendors({ dataDir: join(dir, 'vendors'), clock: commandClock });
  ring = await ringOnDisk(undefined, commandClock);
  environment = {
    ...ring.environment,
    RELAY_DATABASE: `sqlite:${join(dir, 'relay.sqlite')}`,
    RELAY_APPS_FILE: appsFile,
    RELAY_FCM_BASE_URL: vendors.urls.fcm,
    RELAY_APNS_PRODUCTION_URL: vendors.urls.apnsProduction,
    RELAY_APNS_SANDBOX_URL: vendors.urls.apnsSandbox,
    RELAY_APNS_CA_FILE: vendors.credentials.caFile,
  };
  await runRelayCommand(['db', 'migrate'], { environment });
});
afterAll(async () => {
  await vendors.close();
  for (const folder of [dir, ring.folder]) rmSync(folder, { recursive: true });
});
beforeEach(async () => {
  writeApps({});
  await faults([]);
});

const hour = 3_600_000;
const fcmName = () => `fcm:${vendors.credentials.fcmProjectId}`;
const apnsName = `apns:${topic}:production`;
// The stand-ins have no list of phones, so they accept every token. With the rules in docs/vendors.md, they respond to
// an unknown token as real vendors do.
const page = readFileSync(join(import.meta.dirname, '../../../../docs/vendors.md'), 'utf8');
const [, rulesOfPage = ''] = /'(\{"rules":.*no-phone-has-this-token.*\})'$/m.exec(page) ?? [];
const unknownToken = (JSON.parse(rulesOfPage) as { readonly rules: readonly object[] }).rules;

function writeApps({ fcm = {}, apns = {} }: { fcm?: object; apns?: object }): void {
  const apps = appsFor(vendors);
  const changed = {
    fcm: [{ ...apps.fcm[0], ...fcm }],
    apns: [{ ...apps.apns[0], topics: [topic], ...apns }],
  };
  writeFileSync(appsFile, JSON.stringify(changed), { mode: 0o600 });
}

async function faults(rules: readonly object[]): Promise<void> {
  const response = await fetch(`${vendors.urls.http}/faults`, {
    method: 'PUT',
    body: JSON.stringify({ rules }),
  });
  if (response.status !== 200) throw new Error(await response.text());
}

async function delivered(): Promise<{ vendor: string }[]> {
  return (await (await fetch(`${vendors.urls.http}/deliveries`)).json()).deliveries;
}

async function providerTokens(): Promise<number> {
  return (await (await fetch(`${vendors.urls.http}/stats`)).json()).apns.provider_tokens_accepted;
}

/** Runs `apps check --json`. Returns its output for each app, and the exit status. */
async function check(more: Record<string, string> = {}, flags: readonly string[] = [], clock = commandClock) {
  const argv = ['apps', 'check', '--json', ...flags];
  const { status, stdout, stderr } = await runRelayCommand(argv, {
    environment: { ...environment, ...more },
    clock,
  });
  const { ok, apps } = JSON.parse(stdout) as {
    ok: boolean;
    apps: { app: string; ok: boolean; reason: string | null; sentence: string }[];
  };
  expect(ok).toBe(status === 0);
  return { status, apps, text: `${stdout}${stderr}` };
}

function otherKey(type: 'rsa' | 'ec'): string {
  const { privateKey } =
    type === 'rsa'
      ? generateKeyPairSync('rsa', { modulusLength: 2048 })
      : generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

function writeSecret(name: string, text: string): string {
  const file = join(dir, name);
  writeFileSync(file, text, { mode: 0o600 });
  return file;
}

describe('waxwing-relay apps check', () => {
  it('accepts good credentials without sending a notification or signing a second token for Apple', async () => {
    await faults(unknownToken);
    const before = await delivered();
    const tokens: number[] = [];
    for (let run = 0; run < 2; run += 1) {
      const { status, stdout } = await runRelayCommand(['apps', 'check'], { environment });
      expect(stdout.split('\n')).toEqual([
        `ok      ${fcmName()}: the vendor accepts the credential.`,
        `ok      ${apnsName}: the vendor accepts the credential.`,
      ]);
      expect(status).toBe(0);
      tokens.push(await providerTokens());
    }
    expect(await delivered()).toEqual(before);
    expect(tokens[1]).toBe(tokens[0]);
    expect((await check()).apps).toMatchObject([
      { app: fcmName(), ok: true, reason: 'INVALID_TOKEN' },
      { app: apnsName, ok: true, reason: 'BadDeviceToken' },
    ]);
  });

  it('makes FCM validate messages without delivering them', async () => {
    const { apps } = await check();
    expect(apps[0]).toMatchObject({ ok: false, reason: 'ACCEPTED' });
    expect((await delivered()).filter(({ vendor }) => vendor === 'fcm')).toEqual([]);
  });

  it('names the files of refused keys and the remedy, but prints no secret', async () => {
    await faults(unknownToken);
    const account = JSON.parse(readFileSync(vendors.credentials.serviceAccountFile, 'utf8'));
    const [rsa, ec] = [otherKey('rsa'), otherKey('ec')];
    const accountFile = writeSecret('other.json', JSON.stringify({ ...account, private_key: rsa }));
    const keyFile = writeSecret('other.p8', ec);
    writeApps({ fcm: { service_account_file: accountFile }, apns: { key_file: keyFile } });
    const { status, apps, text } = await check();
    expect(status).toBe(1);
    expect(apps).toMatchObject([
      { ok: false, reason: 'OAUTH_REFUSED', sentence: expect.stringContaining(accountFile) },
      { ok: false, reason: 'InvalidProviderToken', sentence: expect.stringContaining(keyFile) },
    ]);
    expect(text).toContain('create a new');
    for (const key of [rsa, ec]) expect(text).not.toContain(key.split('\n')[1]);
    expect(text).not.toMatch(/bearer|eyJ/i);
  });

  it.each([
    ['ahead', 2 * hour, 'InvalidProviderToken'],
    ['behind', -2 * hour, 'ExpiredProviderToken'],
  ])('mentions the clock for Google and Apple if the clock is %s', async (_which, difference, reason) => {
    await faults(unknownToken);
    const database = { RELAY_DATABASE: `sqlite:${join(dir, `${reason}.sqlite`)}` };
    await runRelayCommand(['db', 'migrate'], { environment: { ...environment, ...database } });
    const { apps } = await check(database, [], () => commandClock() + difference);
    expect(apps).toMatchObject([
      { ok: false, reason: 'OAUTH_REFUSED', sentence: expect.stringContaining("this machine's clock") },
      { ok: false, reason, sentence: expect.stringContaining("this machine's clock") },
    ]);
  });

  it('detects a service account without permission, and a bundle id that the key may not serve', async () => {
    await faults([{ vendor: 'apns', topic, status: 400, reason: 'TopicDisallowed' }]);
    writeApps({ fcm: { project: 'some-other-project' } });
    const { apps } = await check();
    expect(apps).toMatchObject([
      { app: 'fcm:some-other-project', ok: false, reason: 'PERMISSION_DENIED' },
      { app: apnsName, ok: false, reason: 'TopicDisallowed' },
    ]);
    expect(apps[0]?.sentence).toContain('correct "project"');
    expect(apps[1]?.sentence).toContain(`may not send to ${topic}`);
  });

  it('suggests to check address_by if FCM rejects the message', async () => {
    const message = 'Invalid JSON payload received.';
    await faults([{ vendor: 'fcm', status: 400, reason: 'INVALID_ARGUMENT', field: 'message', message }]);
    const [fcm] = (await check()).apps;
    expect(fcm).toMatchObject({ ok: false, reason: 'INVALID_ARGUMENT' });
    expect(fcm?.sentence).toContain('address_by');
  });

  it('requires a bundle id for an entry that serves any bundle id', async () => {
    await faults(unknownToken);
    writeApps({ apns: { topics: '*' } });
    expect((await check()).apps[1]).toMatchObject({ app: 'apns:*:production', ok: false, reason: null });
    const { status, apps } = await check({}, ['--topic', topic]);
    expect(apps[1]).toMatchObject({ app: 'apns:*:production', ok: true });
    expect(status).toBe(0);
  });

  it('detects a vendor that cannot be reached', async () => {
    const port = await freePort();
    const { status, apps } = await check({
      RELAY_FCM_BASE_URL: `http://127.0.0.1:${port}`,
      RELAY_APNS_PRODUCTION_URL: `https://127.0.0.1:${port}`,
    });
    expect(status).toBe(1);
    expect(apps).toMatchObject([
      { ok: false, reason: 'NOT_CONNECTED' },
      { ok: false, reason: 'NOT_CONNECTED' },
    ]);
    for (const { sentence } of apps) expect(sentence).toContain(`127.0.0.1:${port} does not answer`);
  });

  it.each([404, 403, 400, 200])('detects a %i response that is not from the vendor', async (statusCode) => {
    const body = '<html>not here</html>';
    await faults([
      { vendor: 'apns', status: statusCode === 200 ? 404 : statusCode, reason: 'BadPath', body },
    ]);
    const other = createServer((_request, response) => response.writeHead(statusCode).end(body));
    await new Promise<void>((listening) => other.listen(0, '127.0.0.1', listening));
    const { port } = other.address() as AddressInfo;
    try {
      const { status, apps } = await check({ RELAY_FCM_BASE_URL: `http://127.0.0.1:${port}` });
      expect(status).toBe(1);
      for (const { ok, sentence } of apps) {
        expect(ok).toBe(false);
        expect(sentence).toContain("check that the address is the vendor's");
      }
      expect(apps).toHaveLength(2);
    } finally {
      other.close();
    }
  });

  it('names the missing setting if no apps are configured', async () => {
    const { RELAY_DATABASE = '' } = environment;
    const bare = { ...ring.environment, RELAY_DATABASE };
    const { status, stderr } = await runRelayCommand(['apps', 'check'], { environment: bare });
    expect(status).toBe(1);
    expect(stderr).toContain('RELAY_APPS_FILE is not set');
  });
});

async function freePort(): Promise<number> {
  const server = createTcpServer();
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  await new Promise<void>((closed) => server.close(() => closed()));
  return port;
}
