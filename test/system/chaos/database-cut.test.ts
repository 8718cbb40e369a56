import { readFileSync } from 'node:fs';
import { loadFastestSodium } from '@waxwing/sodium/native';
import { afterEach, describe, expect, it } from 'vitest';
import { CuttableProxy } from '../../support/cuttable-proxy.js';
import { eachPostgres, testPostgresUrl } from '../../support/test-databases.js';
import { basicAuthorization } from '../crash/ask.js';
import { CrashPhone } from '../crash/crash-phone.js';
import { type CrashWorld, createCrashWorld } from '../crash/crash-world.js';
import { hastenJobs } from '../crash/hasten-jobs.js';
import { Ledger } from '../crash/ledger.js';
import { RelayLoad } from '../crash/relay-load.js';
import { seededRandom } from '../crash/seeded-random.js';
import { ServerLoad } from '../crash/server-load.js';
import { readDeliveries } from '../crash/vendor-deliveries.js';

const testMilliseconds = 240_000;
const waitMilliseconds = 90_000;
const enoughAcknowledged = 80;
const refusalsWanted = 20;

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
}, testMilliseconds);

describe('a temporary database outage under load', () => {
  eachPostgres(() => {
    it(
      'causes refusals with Retry-After, but no crash, loss or restart',
      async () => {
        const world = await createCrashWorld({ postgresUrl: testPostgresUrl, users: 12 });
        closers.push(() => world.close());
        const { constellation } = world;
        const { relayEnv, serverEnv, vendors, relayUrl, serverUrl } = constellation;
        const proxy = await proxyFor(relayEnv.RELAY_DATABASE ?? '');
        const relay = await constellation.startRelay({
          RELAY_DATABASE: through(proxy, relayEnv.RELAY_DATABASE ?? ''),
        });
        const server = await constellation.startServer({
          SERVER_DATABASE: through(proxy, serverEnv.SERVER_DATABASE ?? ''),
        });
        const ledger = new Ledger();
        const loads = await createLoads(world, ledger);
        closers.push(async () => {
          loads.relay.stop();
          loads.server.stop();
        });
        const working = Promise.all([loads.relay.run(5), loads.server.run(3)]);
        await untilAcknowledged(ledger, enoughAcknowledged);

        await proxy.cut();
        const ask = await registrationAsker(world);
        for (const url of [relayUrl, serverUrl]) {
          for (let refusals = 0; refusals < refusalsWanted; refusals++) {
            const answer = await ask(url);
            expect([answer.status, Number(answer.headers.get('retry-after')) > 0]).toEqual([503, true]);
          }
          expect((await fetch(`${url}/health/ready`)).status).toBe(503);
          expect((await fetch(`${url}/health/live`)).status).toBe(200);
        }

        await proxy.open();
        await untilAcknowledged(ledger, ledger.acknowledged + enoughAcknowledged);
        loads.relay.stop();
        loads.server.stop();
        await working;
        await hastenJobs([relayEnv.RELAY_DATABASE ?? '', serverEnv.SERVER_DATABASE ?? '']);
        const until = performance.now() + waitMilliseconds;
        const isOver = () => performance.now() >= until;
        await loads.server.settle(isOver);
        await loads.relay.notifyAll();
        await loads.server.notifyAll(isOver);
        const missing = async () => ledger.missing(await readDeliveries(vendors.urls.http));
        await expect.poll(missing, { timeout: waitMilliseconds, interval: 1000 }).toEqual([]);
        expect([relay.hasExited, server.hasExited]).toEqual([false, false]);
        for (const url of [relayUrl, serverUrl]) {
          await expect.poll(async () => (await fetch(`${url}/health/ready`)).status).toBe(200);
        }
      },
      testMilliseconds,
    );
  });
});

async function proxyFor(databaseUrl: string): Promise<CuttableProxy> {
  const { hostname, port } = new URL(databaseUrl);
  const proxy = new CuttableProxy({ host: hostname, port: Number(port || 5432) });
  await proxy.open();
  closers.push(() => proxy.cut());
  return proxy;
}

function through({ port }: CuttableProxy, databaseUrl: string): string {
  return Object.assign(new URL(databaseUrl), { host: `127.0.0.1:${port}` }).href;
}

async function createLoads({ constellation, users }: CrashWorld, ledger: Ledger) {
  const { sodium } = await loadFastestSodium();
  const { bouncerPublicKey, realmUuid, relayUrl, serverUrl, vendors } = constellation;
  const phone = { sodium, bouncerPublicKey, webPushUrl: vendors.urls.webPush };
  const random = seededRandom(11);
  return {
    relay: new RelayLoad({
      kinds: ['fcm', 'apns'],
      ledger,
      realmUuid,
      phone,
      random,
      relayUrl: () => relayUrl,
      authorization: serverAuthorization(constellation),
    }),
    server: new ServerLoad({
      kinds: ['fcm', 'apns'],
      ledger,
      phone,
      random,
      users,
      serverUrl: () => serverUrl,
    }),
  };
}

function serverAuthorization({ serverEnv }: CrashWorld['constellation']): string {
  const { SERVER_RELAY_SERVER_ID: id = '', SERVER_RELAY_SERVER_KEY_FILE: file = '' } = serverEnv;
  return basicAuthorization(id, readFileSync(file, 'utf8').trim());
}

/** Returns a function that registers one new phone with the relay or the server at the given URL. */
async function registrationAsker({ constellation, users }: CrashWorld) {
  const { sodium } = await loadFastestSodium();
  const { bouncerPublicKey, realmUuid, relayUrl } = constellation;
  const phone = new CrashPhone({ sodium, bouncerPublicKey, kind: 'fcm' });
  const [user] = users;
  return (url: string): Promise<Response> => {
    const isRelay = url === relayUrl;
    const path = isRelay ? '/api/v1/remotes/push/e2ee/register' : '/api/v1/mobile_push/register';
    const { token_kind, push_public_key, ...fields } = phone.registration;
    const form = isRelay ? { ...fields, realm_uuid: realmUuid } : phone.registration;
    const authorization = isRelay
      ? serverAuthorization(constellation)
      : basicAuthorization(user?.email ?? '', user?.api_key ?? '');
    return fetch(url + path, { method: 'POST', headers: { authorization }, body: new URLSearchParams(form) });
  };
}

async function untilAcknowledged(ledger: Ledger, count: number): Promise<void> {
  await expect.poll(() => ledger.acknowledged, { timeout: waitMilliseconds }).toBeGreaterThanOrEqual(count);
}
