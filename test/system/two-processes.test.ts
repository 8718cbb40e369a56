import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type JsonObject, parseJson } from '@waxwing/protocol';
import { loadFastestSodium } from '@waxwing/sodium/native';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { addUsers } from '../support/add-users.js';
import type { ConstellationUser } from '../support/constellation.js';
import { freePort } from '../support/free-ports.js';
import type { SpawnedProcess } from '../support/spawned-process.js';
import { TcpBalancer } from '../support/tcp-balancer.js';
import { eachPostgres, testPostgresUrl } from '../support/test-databases.js';
import { ask, basicAuthorization } from './crash/ask.js';
import { CrashPhone } from './crash/crash-phone.js';
import { type CrashWorld, createCrashWorld } from './crash/crash-world.js';
import { hastenJobs } from './crash/hasten-jobs.js';
import { Ledger } from './crash/ledger.js';
import { RelayLoad } from './crash/relay-load.js';
import { seededRandom } from './crash/seeded-random.js';
import { ServerLoad } from './crash/server-load.js';
import { readDeliveries } from './crash/vendor-deliveries.js';

const startMilliseconds = 120_000;
const testMilliseconds = 240_000;
const settleMilliseconds = 90_000;
const enoughAcknowledged = 80;
/** Upper bound for immediate delivery. Shorter than the heartbeat interval of ninety seconds. */
const atOnceMilliseconds = 45_000;

interface Twin {
  readonly process: SpawnedProcess;
  readonly url: string;
  /** Starts a process to replace this one after it was killed. */
  again(): Promise<Twin>;
}

let world: CrashWorld;
let relays: readonly [Twin, Twin];
let servers: readonly [Twin, Twin];
let balancer: TcpBalancer;
let stopLoads = (): void => undefined;
let sodium: Awaited<ReturnType<typeof loadFastestSodium>>['sodium'];

describe('two relays and two servers on one PostgreSQL', () => {
  eachPostgres(() => {
    beforeAll(async () => {
      ({ sodium } = await loadFastestSodium());
      world = await createCrashWorld({ postgresUrl: testPostgresUrl, users: 1 });
      const { constellation } = world;
      const firstPort = await freePort(4);
      const ports = [0, 1, 2, 3].map((offset) => firstPort + offset);
      const [firstRelay, secondRelay, firstServer, secondServer] = ports.map(String) as [
        string,
        string,
        string,
        string,
      ];
      balancer = await TcpBalancer.start(ports.slice(0, 2));
      const relay = async (port: string): Promise<Twin> => ({
        process: await constellation.startRelay({ RELAY_PORT: port }),
        url: `http://127.0.0.1:${port}`,
        again: () => relay(port),
      });
      const server = async (port: string): Promise<Twin> => ({
        process: await constellation.startServer({ SERVER_PORT: port, SERVER_RELAY_URL: balancer.url }),
        url: `http://127.0.0.1:${port}`,
        again: () => server(port),
      });
      // Starts the processes one after another, because the first relay and the first server migrate the databases.
      relays = [await relay(firstRelay), await relay(secondRelay)];
      servers = [await server(firstServer), await server(secondServer)];
    }, startMilliseconds);

    afterAll(async () => {
      await balancer.close();
      await world.close();
    }, startMilliseconds);

    afterEach(() => stopLoads());

    it(
      'publish an event from one server immediately to clients of the other server',
      async () => {
        const [user] = world.users as [ConstellationUser];
        for (const [here, there] of [
          [servers[0].url, servers[1].url],
          [servers[1].url, servers[0].url],
        ] as const) {
          const authorization = basicAuthorization(user.email, user.api_key);
          const queue = await ask(
            `${here}/api/v1/register`,
            authorization,
            new URLSearchParams({ event_types: '["push_device"]' }),
          );
          const queueId = String(queue.body.queue_id);
          const waiting = nextEvents(there, authorization, queueId);
          const phone = newPhone();
          const form = new URLSearchParams(phone.registration);
          const startedAt = performance.now();
          expect(await ask(`${here}/api/v1/mobile_push/register`, authorization, form)).toMatchObject({
            status: 200,
          });
          const [event] = await waiting;
          expect(String(event?.push_account_id)).toBe(phone.pushAccountId);
          expect(event).toMatchObject({ type: 'push_device', status: 'active' });
          expect(performance.now() - startedAt).toBeLessThan(atOnceMilliseconds);
        }
      },
      startMilliseconds,
    );

    it(
      'lose nothing when one of each kind is killed under load',
      async () => {
        await afterAnotherTry();
        const ledger = new Ledger();
        const names = Array.from({ length: 11 }, () => randomUUID());
        const loads = createLoads(ledger, await addUsers(world.constellation, names));
        stopLoads = () => {
          loads.relay.stop();
          loads.server.stop();
        };
        const working = Promise.all([loads.relay.run(6), loads.server.run(4)]);
        await untilAcknowledged(ledger, enoughAcknowledged);
        await Promise.all([relays[0].process.end('SIGKILL'), servers[0].process.end('SIGKILL')]);
        await untilAcknowledged(ledger, ledger.acknowledged + enoughAcknowledged);
        stopLoads();
        await working;

        const until = performance.now() + settleMilliseconds;
        const isOver = () => performance.now() >= until;
        const { relayEnv, serverEnv, vendors } = world.constellation;
        const hasten = () => hastenJobs([relayEnv.RELAY_DATABASE ?? '', serverEnv.SERVER_DATABASE ?? '']);
        await hasten();
        await loads.server.settle(isOver);
        await loads.relay.notifyAll();
        await loads.server.notifyAll(isOver);
        const missing = async () => ledger.missing(await readDeliveries(vendors.urls.http));
        await expect.poll(missing, { timeout: settleMilliseconds, interval: 1000 }).toEqual([]);
        expect(ledger.count(await readDeliveries(vendors.urls.http))).toMatchObject({
          lost: 0,
          unopenable: 0,
        });
        expect([relays[1].process.hasExited, servers[1].process.hasExited]).toEqual([false, false]);
      },
      testMilliseconds,
    );
  });
});

/** Restarts processes that an earlier attempt of the test may have killed, and discards that attempt's deliveries. */
async function afterAnotherTry(): Promise<void> {
  if (relays[0].process.hasExited) relays = [await relays[0].again(), relays[1]];
  if (servers[0].process.hasExited) servers = [await servers[0].again(), servers[1]];
  await fetch(`${world.constellation.vendors.urls.http}/deliveries`, { method: 'DELETE' });
}

function newPhone(): CrashPhone {
  const { bouncerPublicKey } = world.constellation;
  return new CrashPhone({ sodium, bouncerPublicKey, kind: 'fcm' });
}

async function nextEvents(url: string, authorization: string, queueId: string): Promise<JsonObject[]> {
  const query = new URLSearchParams({ queue_id: queueId, last_event_id: '-1' });
  const response = await fetch(`${url}/api/v1/events?${query}`, { headers: { authorization } });
  return (parseJson(await response.text()) as { events: JsonObject[] } & JsonObject).events;
}

/** Creates clients that use both processes. Each client fails over to the other process. */
function createLoads(ledger: Ledger, users: readonly ConstellationUser[]) {
  const { bouncerPublicKey, realmUuid, serverEnv, vendors } = world.constellation;
  const { SERVER_RELAY_SERVER_ID: id = '', SERVER_RELAY_SERVER_KEY_FILE: keyFile = '' } = serverEnv;
  const phone = { sodium, bouncerPublicKey, webPushUrl: vendors.urls.webPush };
  const random = seededRandom(7);
  const oneOf = (twins: readonly [Twin, Twin]) => (random() < 0.5 ? twins[0] : twins[1]).url;
  return {
    relay: new RelayLoad({
      kinds: ['fcm', 'apns'],
      ledger,
      realmUuid,
      phone,
      random,
      relayUrl: () => oneOf(relays),
      authorization: basicAuthorization(id, readFileSync(keyFile, 'utf8').trim()),
    }),
    server: new ServerLoad({
      kinds: ['fcm', 'apns'],
      ledger,
      phone,
      random,
      users,
      serverUrl: () => oneOf(servers),
    }),
  };
}

async function untilAcknowledged(ledger: Ledger, count: number): Promise<void> {
  await expect.poll(() => ledger.acknowledged, { timeout: startMilliseconds }).toBeGreaterThanOrEqual(count);
}
