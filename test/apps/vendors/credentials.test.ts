import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { startVendors } from '@waxwing/vendors';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  ApnsClient,
  getAccessToken,
  readServiceAccount,
  startTestVendors,
  type TestVendors,
} from './vendor-clients.js';

describe("the vendors' credentials", () => {
  let parent: string;
  let dataDir: string;
  const running: TestVendors[] = [];

  beforeEach(async () => {
    parent = await mkdtemp(join(tmpdir(), 'vendors-'));
    dataDir = join(parent, 'deep', 'vendors');
  });
  afterEach(async () => {
    for (const test of running.splice(0)) await test.close();
    await rm(parent, { recursive: true });
  });

  async function start(options: { host?: string; httpPort?: number } = {}): Promise<TestVendors> {
    const test = await startTestVendors({ dataDir, ...options });
    running.push(test);
    return test;
  }

  async function stop(test: TestVendors): Promise<void> {
    running.splice(running.indexOf(test), 1);
    await test.close();
  }

  const readAll = async () => {
    const names = (await readdir(dataDir)).sort();
    return Object.fromEntries(
      await Promise.all(names.map(async (name) => [name, await readFile(join(dataDir, name), 'utf8')])),
    ) as Record<string, string>;
  };

  it('are created at the first start with owner-only permissions', async () => {
    const { vendors } = await start();
    const { credentials, urls } = vendors;
    expect((await stat(dataDir)).mode & 0o777).toBe(0o700);
    const names = await readdir(dataDir);
    expect(names.sort()).toEqual(
      [
        `AuthKey_${credentials.apnsKeyId}.p8`,
        'apns-ca.pem',
        'fcm-service-account.json',
        'vendors.json',
      ].sort(),
    );
    for (const name of names) expect((await stat(join(dataDir, name))).mode & 0o777, name).toBe(0o600);
    const account = JSON.parse(await readFile(credentials.serviceAccountFile, 'utf8')) as Record<
      string,
      string
    >;
    expect(account).toMatchObject({
      type: 'service_account',
      project_id: credentials.fcmProjectId,
      private_key_id: expect.stringMatching(/^[0-9a-f]{40}$/),
      client_email: `firebase-adminsdk@${credentials.fcmProjectId}.iam.gserviceaccount.com`,
      token_uri: `${urls.http}/token`,
    });
    expect(createPrivateKey(account.private_key ?? '').asymmetricKeyDetails?.modulusLength).toBe(2048);
    const apnsKey = createPrivateKey(await readFile(credentials.apnsKeyFile, 'utf8'));
    expect(apnsKey.asymmetricKeyDetails?.namedCurve).toBe('prime256v1');
    expect(basename(credentials.apnsKeyFile)).toBe(`AuthKey_${credentials.apnsKeyId}.p8`);
    expect(credentials.apnsKeyId).toMatch(/^[A-Z0-9]{10}$/);
    expect(credentials.apnsTeamId).toMatch(/^[A-Z0-9]{10}$/);
    expect(new X509Certificate(await readFile(credentials.caFile)).ca).toBe(true);
  });

  it('differ between data directories', async () => {
    const one = await start();
    const other = await startTestVendors();
    running.push(other);
    expect(other.vendors.credentials.fcmProjectId).not.toBe(one.vendors.credentials.fcmProjectId);
    expect(await readFile(other.vendors.credentials.caFile, 'utf8')).not.toBe(
      await readFile(one.vendors.credentials.caFile, 'utf8'),
    );
  });

  it('stay the same across restarts, except for the URL of the token endpoint', async () => {
    const first = await start();
    const before = await readAll();
    const port = Number(new URL(first.vendors.urls.http).port);
    await stop(first);
    const again = await start({ httpPort: port });
    expect(await readAll()).toEqual(before);
    await stop(again);
    const elsewhere = await start();
    expect(elsewhere.vendors.urls.http).not.toBe(first.vendors.urls.http);
    const after = await readAll();
    const account = JSON.parse(before['fcm-service-account.json'] ?? '') as object;
    expect(JSON.parse(after['fcm-service-account.json'] ?? '')).toEqual({
      ...account,
      token_uri: `${elsewhere.vendors.urls.http}/token`,
    });
    expect({ ...after, 'fcm-service-account.json': '' }).toEqual({
      ...before,
      'fcm-service-account.json': '',
    });
    expect(await getAccessToken(elsewhere)).toMatch(/^ya29\./);
    const apns = await ApnsClient.connect(elsewhere);
    expect((await apns.send()).status).toBe(200);
    apns.close();
  });

  it('are written again if a derived file is missing', async () => {
    const first = await start();
    const key = await readFile(first.vendors.credentials.apnsKeyFile, 'utf8');
    await rm(first.vendors.credentials.apnsKeyFile);
    await stop(first);
    const again = await start();
    expect(await readFile(again.vendors.credentials.apnsKeyFile, 'utf8')).toBe(key);
  });

  it('are shared by stand-ins that start concurrently in a new directory', async () => {
    const both = await Promise.all([start(), start()]);
    const [one, other] = both.map(({ vendors }) => vendors.credentials);
    expect(one).toEqual(other);
    for (const test of both) {
      const apns = await ApnsClient.connect(test);
      expect((await apns.send()).status).toBe(200);
      apns.close();
    }
  });

  it('are not replaced if they cannot be read', async () => {
    await stop(await start());
    await writeFile(join(dataDir, 'vendors.json'), '{"fcm":');
    await expect(start()).rejects.toThrow(
      /vendors\.json does not contain the vendors' credentials: delete it/,
    );
    expect(await readFile(join(dataDir, 'vendors.json'), 'utf8')).toBe('{"fcm":');
  });

  it('get only a new certificate if the old certificate does not cover the host', async () => {
    const first = await start();
    const before = await readAll();
    await stop(first);
    const test = await start({ host: '127.0.0.2' });
    expect(new URL(test.vendors.urls.apnsProduction).hostname).toBe('127.0.0.2');
    const apns = await ApnsClient.connect(test);
    expect((await apns.send()).status).toBe(200);
    apns.close();
    const account = await readServiceAccount(test);
    expect(before['fcm-service-account.json']).toContain(account.private_key_id);
    expect(await readFile(test.vendors.credentials.caFile, 'utf8')).not.toBe(before['apns-ca.pem']);
  });

  it('come with reachable URLs if the bind address is a wildcard', async () => {
    const test = await start({ host: '0.0.0.0' });
    expect(new URL(test.vendors.urls.http).hostname).toBe('127.0.0.1');
    expect(await getAccessToken(test)).toMatch(/^ya29\./);
  });

  it('startVendors rejects with EADDRINUSE and the port if a port is in use', async () => {
    const first = await start();
    const taken = Number(new URL(first.vendors.urls.apnsProduction).port);
    const failing = startVendors({ dataDir, apnsProductionPort: taken });
    await expect(failing).rejects.toMatchObject({ code: 'EADDRINUSE', port: taken });
  });
});
