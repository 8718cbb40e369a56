import { readFileSync, writeFileSync } from 'node:fs';
import { loadFastestSodium } from '@waxwing/sodium/native';
import type { Constellation } from '../../support/constellation.js';
import { basicAuthorization } from './ask.js';
import { createCrashWorld } from './crash-world.js';
import { hastenJobs } from './hasten-jobs.js';
import { type CrashCounts, Ledger } from './ledger.js';
import { liveAndDie } from './lives.js';
import { pause } from './pause.js';
import { RelayLoad } from './relay-load.js';
import { seededRandom } from './seeded-random.js';
import { ServerLoad } from './server-load.js';
import { readDeliveries } from './vendor-deliveries.js';

export interface CrashOptions {
  /** Number of times that relay and server are each killed. */
  readonly rounds: number;
  /** URL of the PostgreSQL server. `undefined` for SQLite. */
  readonly postgresUrl: string | undefined;
  readonly seed: number;
  /**
   * Minimum number of phones that register directly with the relay, half of them through each of two simulated servers.
   */
  readonly phones: number;
  /** Called with a sentence for each step. */
  readonly tell: (sentence: string) => void;
}

const users = 30;
/** Number of workers of each of the two simulated servers. */
const relayWorkers = 2;
const serverWorkers = 4;
const workMilliseconds = 90_000;
/** Four times as long as taking over a dead process's jobs. */
const settleMilliseconds = 120_000;
const lookMilliseconds = 1000;

/**
 * Kills relay and server at random moments under load. Counts how many successful requests were lost or repeated.
 * @throws Error if a process does not restart, exits by itself, or sends an unexpected response.
 */
export async function runCrash(options: CrashOptions): Promise<CrashCounts> {
  const { postgresUrl, tell } = options;
  const world = await createCrashWorld({ postgresUrl, users });
  const { constellation } = world;
  const ledger = new Ledger();
  const loads = await createLoads(constellation, world.users, ledger, options);
  try {
    await prepare(constellation, loads.server);
    await setFaults(constellation, stormyVendors);
    const working = Promise.all([
      ...loads.relay.map((load) => load.run(relayWorkers)),
      loads.server.run(serverWorkers),
    ]);
    const dying = killBoth(constellation, options);
    await within(
      Promise.race([dying, working.then(() => dying)]),
      options.rounds * workMilliseconds,
      'the rounds',
    );
    stopAll(loads);
    await setFaults(constellation, []);
    await within(working, workMilliseconds, 'the clients’ last requests');
    return await countOutcome(constellation, loads, ledger, tell);
  } catch (error) {
    tell(constellation.output);
    throw error;
  } finally {
    stopAll(loads);
    await world.close();
  }
}

/**
 * Creates users with active phones, and messages whose notification jobs wait for the relay. Then kills both. The
 * restarted server is processing these jobs when it is killed next.
 */
async function prepare(constellation: Constellation, load: ServerLoad): Promise<void> {
  const { relayUrl, serverUrl } = constellation;
  const [relay, server] = [constellation.spawnRelay(), constellation.spawnServer()];
  await Promise.all([relay.readyAt(`${relayUrl}/health/ready`), server.readyAt(`${serverUrl}/health/ready`)]);
  const until = performance.now() + settleMilliseconds;
  await load.prepare(() => performance.now() >= until);
  await relay.end('SIGKILL');
  await load.writeToAll();
  await server.end('SIGKILL');
}

interface Loads {
  /** Two simulated servers, each with phones of both generations. */
  readonly relay: readonly RelayLoad[];
  readonly server: ServerLoad;
}

function stopAll({ relay, server }: Loads): void {
  for (const load of [...relay, server]) load.stop();
}

async function createLoads(
  constellation: Constellation,
  owners: ConstructorParameters<typeof ServerLoad>[0]['users'],
  ledger: Ledger,
  { seed, phones }: Pick<CrashOptions, 'seed' | 'phones'>,
): Promise<Loads> {
  const { sodium } = await loadFastestSodium();
  const { bouncerPublicKey, realmUuid, relayUrl, serverEnv, serverUrl } = constellation;
  const { SERVER_RELAY_SERVER_ID: id = '', SERVER_RELAY_SERVER_KEY_FILE: keyFile = '' } = serverEnv;
  const phone = { sodium, bouncerPublicKey, webPushUrl: constellation.vendors.urls.webPush };
  const servers = [
    { realmUuid, authorization: basicAuthorization(id, readFileSync(keyFile, 'utf8').trim()) },
    await constellation.addRelayServer(),
  ];
  useEveryFormOfFcm(constellation, servers[1]?.realmUuid ?? '');
  return {
    relay: servers.map(
      (server, index) =>
        new RelayLoad({
          ledger,
          phone,
          ...server,
          phones: Math.ceil(phones / servers.length),
          relayUrl: () => relayUrl,
          random: seededRandom(seed + 1 + 1000 * index),
        }),
    ),
    server: new ServerLoad({
      ledger,
      phone,
      users: owners,
      serverUrl: () => serverUrl,
      random: seededRandom(seed + 2),
    }),
  };
}

/**
 * Configures the relay to use every form of FCM message: to installation ids, and with AndroidConfigV2 for one realm.
 */
function useEveryFormOfFcm({ relayEnv }: Constellation, realmUuid: string): void {
  const file = relayEnv.RELAY_APPS_FILE ?? '';
  const { fcm, ...others } = JSON.parse(readFileSync(file, 'utf8'));
  const forms = [{ address_by: 'fid' }, { android_v2: true, realms: [realmUuid] }];
  writeFileSync(file, JSON.stringify({ ...others, fcm: forms.map((form) => ({ ...fcm[0], ...form })) }));
}

async function killBoth(constellation: Constellation, { rounds, seed, tell }: CrashOptions): Promise<void> {
  // Clears the vendors' faults halfway through, so that queued notifications are retried during the remaining rounds.
  const calm = (deaths: number) =>
    deaths === Math.ceil(rounds / 2) ? setFaults(constellation, []) : undefined;
  const told = (name: string) => (deaths: number) => tell(`${name} killed ${deaths} of ${rounds} times`);
  const tellRelay = told('relay');
  await Promise.all([
    liveAndDie({
      rounds,
      random: seededRandom(seed + 3),
      start: () => constellation.spawnRelay(),
      readyUrl: `${constellation.relayUrl}/health/ready`,
      died: async (deaths) => {
        tellRelay(deaths);
        await calm(deaths);
      },
    }),
    liveAndDie({
      rounds,
      random: seededRandom(seed + 4),
      start: () => constellation.spawnServer(),
      readyUrl: `${constellation.serverUrl}/health/ready`,
      died: async (deaths) => told('server')(deaths),
    }),
  ]);
}

/**
 * The vendors' faults under load: one in four requests is refused for at least ten seconds, streams are refused, and
 * connections are closed.
 */
const stormyVendors = [
  { vendor: 'fcm', status: 503, rate: 0.25 },
  { vendor: 'apns', reset: 'before', rate: 0.1 },
  { vendor: 'apns', goaway_every: 50 },
  { vendor: 'webpush', status: 503, rate: 0.25 },
  { vendor: 'webpush', reset: 'before', rate: 0.05 },
];

async function setFaults({ vendors }: Constellation, rules: readonly object[]): Promise<void> {
  const response = await fetch(`${vendors.urls.http}/faults`, {
    method: 'PUT',
    body: JSON.stringify({ rules }),
  });
  if (response.status !== 200) throw new Error(`the stand-ins refused the faults: ${await response.text()}`);
}

async function countOutcome(
  constellation: Constellation,
  loads: Loads,
  ledger: Ledger,
  tell: CrashOptions['tell'],
): Promise<CrashCounts> {
  const { relayEnv, serverEnv, vendors } = constellation;
  const until = performance.now() + settleMilliseconds;
  const isOver = (): boolean => performance.now() >= until;
  tell('all requests are complete; waiting for stored notifications');
  const hasten = () => hastenJobs([relayEnv.RELAY_DATABASE ?? '', serverEnv.SERVER_DATABASE ?? '']);
  await hasten();
  await loads.server.settle(isOver);
  for (const load of loads.relay) await load.notifyAll();
  await loads.server.notifyAll(isOver);
  for (;;) {
    const openPush = (endpoint: string, body: Buffer) => ledger.openPush(endpoint, body);
    const deliveries = await readDeliveries(vendors.urls.http, openPush);
    const missing = ledger.missing(deliveries);
    if (missing.length === 0 || isOver()) {
      for (const what of missing) tell(`lost: ${what}`);
      if (missing.length > 0) tell(constellation.output);
      return ledger.count(deliveries);
    }
    tell(`${missing.length} items are still missing`);
    await hasten();
    await pause(lookMilliseconds);
  }
}

async function within(work: Promise<unknown>, milliseconds: number, what: string): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`${what} took longer than ${milliseconds / 1000} s`)),
      milliseconds,
    );
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
