import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { loadFastestSodium } from '@waxwing/sodium/native';
import { afterEach, describe, expect, it } from 'vitest';
import { Constellation } from '../../support/constellation.js';
import { basicAuthorization } from '../crash/ask.js';
import { CrashPhone } from '../crash/crash-phone.js';
import { limitFileSizes, mountScarceDisk, type ScarceDisk } from './scarce-disk.js';

const testMilliseconds = 120_000;
// Upper bound, because the write-ahead log may still have room for some requests.
const mostTries = 3000;
const refusalsWanted = 10;

const closers: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
}, testMilliseconds);

const ways: Readonly<Record<string, () => ScarceDisk>> = {
  'a full file system': mountScarceDisk,
  'a file size limit': limitFileSizes,
};

describe('a full disk', () => {
  for (const [name, make] of Object.entries(ways)) {
    const disk = makeOrTell(name, make);
    if (disk === undefined) continue;
    it(
      `makes relay and server refuse requests, and neither corrupts data nor ends a process: ${name}`,
      async () => {
        closers.push(() => disk.close());
        await fillAndRelieve(disk);
      },
      testMilliseconds,
    );
  }
});

function makeOrTell(name: string, make: () => ScarceDisk): ScarceDisk | undefined {
  try {
    return make();
  } catch (error) {
    process.stderr.write(`skipped: the full-disk test with ${name}: ${(error as Error).message}\n`);
    return undefined;
  }
}

async function fillAndRelieve(disk: ScarceDisk): Promise<void> {
  const files = { relay: join(disk.folder, 'relay.sqlite'), server: join(disk.folder, 'server.sqlite') };
  const constellation = await Constellation.create({
    relay: { RELAY_DATABASE: `sqlite:${files.relay}` },
    server: { SERVER_DATABASE: `sqlite:${files.server}` },
  });
  closers.push(() => constellation.close());
  const user = await constellation.addUser('ada');
  const processes = await Promise.all([constellation.startRelay(), constellation.startServer()]);
  const processIds = processes.map(({ child }) => child.pid ?? 0);
  const { bouncerPublicKey, realmUuid, relayUrl, serverEnv, serverUrl } = constellation;
  const key = readFileSync(serverEnv.SERVER_RELAY_SERVER_KEY_FILE ?? '', 'utf8').trim();
  const { sodium } = await loadFastestSodium();
  const accepted = { relay: new Set<string>(), server: new Set<string>() };
  const refused = { relay: new Set<string>(), server: new Set<string>() };

  async function register(app: 'relay' | 'server'): Promise<Response> {
    const phone = new CrashPhone({ sodium, bouncerPublicKey, kind: 'fcm' });
    const { token_kind, push_public_key, ...fields } = phone.registration;
    const answer = await fetch(
      app === 'relay'
        ? `${relayUrl}/api/v1/remotes/push/e2ee/register`
        : `${serverUrl}/api/v1/mobile_push/register`,
      {
        method: 'POST',
        headers: {
          authorization:
            app === 'relay'
              ? basicAuthorization(serverEnv.SERVER_RELAY_SERVER_ID ?? '', key)
              : basicAuthorization(user.email, user.api_key),
        },
        body: new URLSearchParams(
          app === 'relay' ? { ...fields, realm_uuid: realmUuid } : phone.registration,
        ),
      },
    );
    await answer.arrayBuffer();
    (answer.status === 200 ? accepted : refused)[app].add(phone.pushAccountId);
    return answer;
  }

  const apps = ['relay', 'server'] as const;
  for (const app of apps) expect((await register(app)).status).toBe(200);
  disk.useUp(processIds);
  for (const app of apps) {
    let tries = 0;
    while (refused[app].size < refusalsWanted && tries++ < mostTries) {
      const { status, headers } = await register(app);
      if (status === 200) continue;
      expect([status, Number(headers.get('retry-after')) > 0]).toEqual([503, true]);
    }
    expect(refused[app].size).toBe(refusalsWanted);
  }
  for (const url of [relayUrl, serverUrl]) {
    await expect.poll(() => readiness(url)).toMatchObject({ status: 503, isDatabaseWell: false });
  }
  for (const url of [relayUrl, serverUrl]) expect((await fetch(`${url}/health/live`)).status).toBe(200);

  disk.giveBack(processIds);
  for (const url of [relayUrl, serverUrl]) {
    await expect.poll(() => readiness(url)).toEqual({ status: 200, isDatabaseWell: true });
  }
  for (const app of apps) expect((await register(app)).status).toBe(200);
  expect(processes.map(({ hasExited }) => hasExited)).toEqual([false, false]);
  await expect.poll(() => pendingDevices(files.server), { timeout: testMilliseconds }).toBe(0);
  await Promise.all(processes.map((process) => process.end()));
  const stored = {
    relay: accountsIn(files.relay, 'relay_devices'),
    server: accountsIn(files.server, 'push_devices'),
  };
  expect(new Set(stored.server)).toEqual(accepted.server);
  // The relay stores the registrations that it accepted directly and those that the server forwarded.
  expect(new Set(stored.relay)).toEqual(new Set([...accepted.relay, ...accepted.server]));
}

async function readiness(url: string): Promise<{ status: number; isDatabaseWell: boolean }> {
  const response = await fetch(`${url}/health/ready`);
  const { checks } = (await response.json()) as { checks: { database: string } };
  return { status: response.status, isDatabaseWell: checks.database === 'ok' };
}

function pendingDevices(file: string): number {
  return read(
    file,
    'select count(*) as count from push_devices where pending_token_kind is not null and error_code is null',
  )[0]?.count as number;
}

function accountsIn(file: string, table: string): string[] {
  expect(read(file, 'pragma integrity_check')).toEqual([{ integrity_check: 'ok' }]);
  return read(file, `select push_account_id from ${table}`).map((row) => String(row.push_account_id));
}

function read(file: string, query: string): Record<string, unknown>[] {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    return database.prepare(query).all() as Record<string, unknown>[];
  } finally {
    database.close();
  }
}
