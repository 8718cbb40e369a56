import { encodePushRegistration, relayNotifyPath, stringifyJson } from '@waxwing/protocol';
import { loadFastestSodium } from '@waxwing/sodium/native';
import { computeTokenId } from '#relay/registrations/store/addressee.js';
import { apnsRequest } from '../apps/relay/deliveries/deliveries-under-test.js';
import { createTemporaryPostgres } from '../support/temporary-postgres.js';
import { type BenchResult, medianRates } from './bench-result.js';
import { withBenchTarget } from './bench-target.js';
import { HttpLoad } from './http-load.js';
import { apnsElement } from './notify-endpoint.js';
import type { SeededDevice, SeededParameters, SeededServer, SeededTarget } from './p99-seeded-target.js';
import { randomAccount, registrationRequest } from './relay-register.js';
import { VendorsProcess } from './vendors-process.js';

const seeded = { servers: 1000, devices: 100_000 };
/** Size of an almost empty relay, with just enough devices to notify. */
const empty = { servers: 1, devices: 100 };
const connections = 16;
// A few slow requests determine a 99th percentile, so the benchmark needs many rounds. With nine rounds on a busy
// machine, two identical relays have ratios from 0.8 to 1.6.
const rounds = 21;
const requestsPerRound = 1000;
const latencyMilliseconds = 20;

/**
 * `p99-seeded-register` and `-notify`: p99 latency of each operation in milliseconds, in both generations, on a relay
 * with 1,000 servers and 100,000 devices, compared with an almost empty relay. Requests come from all servers. Runs on
 * SQLite, and as `…-postgres` on PostgreSQL if `WAXWING_TEST_POSTGRES_URL` is set.
 */
export async function run(): Promise<BenchResult[]> {
  const stand = await VendorsProcess.start(latencyMilliseconds);
  const serverUrl = process.env.WAXWING_TEST_POSTGRES_URL;
  try {
    const onSqlite = await measure(stand, '', async () => undefined);
    if (!serverUrl) return onSqlite;
    const databases = [await createTemporaryPostgres(serverUrl), await createTemporaryPostgres(serverUrl)];
    const urls = databases.map(({ url }) => url);
    try {
      return [...onSqlite, ...(await measure(stand, '-postgres', async () => urls.pop()))];
    } finally {
      for (const database of databases) await database.drop();
    }
  } finally {
    stand.stop();
  }
}

async function measure(
  stand: VendorsProcess,
  suffix: string,
  databaseUrl: () => Promise<string | undefined>,
): Promise<BenchResult[]> {
  const parametersFor = async (size: typeof seeded) => {
    const url = await databaseUrl();
    const parameters = { vendors: stand.vendors, ...size, ...(url && { databaseUrl: url }) };
    return [JSON.stringify(parameters satisfies Omit<SeededParameters, 'vendors'> & object)];
  };
  const program = new URL('./p99-seeded-target.ts', import.meta.url);
  const [large, small] = [await parametersFor(seeded), await parametersFor(empty)];
  return withBenchTarget<SeededTarget, BenchResult[]>(program, large, (many) =>
    withBenchTarget<SeededTarget, BenchResult[]>(program, small, async (few) => {
      const results: BenchResult[] = [];
      for (const [name, load] of Object.entries({ register: registrations, notify: notifications })) {
        const round = async (target: SeededTarget) => {
          const next = await load(target);
          return async () => {
            await stand.forget();
            return p99Of(target.port, await next());
          };
        };
        const [subject, against] = [await round(many), await round(few)];
        await subject();
        await against();
        const figures = await medianRates(rounds, subject, against);
        const shared = { unit: 'ms at p99', goal: 1.5, better: 'lower' } as const;
        const result = { name: `p99-seeded-${name}${suffix}`, ...shared, ...figures };
        process.stderr.write(`${result.name}: ${result.ratio.toFixed(2)}\n`);
        results.push(result);
      }
      return results;
    }),
  );
}

/** Sends the requests over 16 new connections, and returns their p99 latency in milliseconds. */
async function p99Of(port: number, requests: Buffer[]): Promise<number> {
  const milliseconds: number[] = [];
  const load = await HttpLoad.open({
    port,
    connections,
    nextRequest: () => requests.pop() as Buffer,
    onSuccess: (took) => void milliseconds.push(took),
  });
  try {
    await load.until(() => requests.length < connections);
  } finally {
    load.close();
  }
  return milliseconds.sort((one, other) => one - other)[Math.floor(milliseconds.length * 0.99)] ?? Number.NaN;
}

type NextRound = () => Promise<Buffer[]>;

/** Returns a function that seals the registrations of a round in advance, each from a new phone. */
async function registrations({ servers, bouncerPublicKey }: SeededTarget): Promise<NextRound> {
  const { sodium } = await loadFastestSodium();
  const publicKey = new Uint8Array(Buffer.from(bouncerPublicKey, 'base64'));
  let count = 0;
  const one = (): Buffer => {
    count += 1;
    const server = servers[count % servers.length] as SeededServer;
    const token = `fcm-token-of-p99-${String(count).padStart(9, '0')}:${'f'.repeat(80)}`;
    const timestamp = Math.floor(Date.now() / 1000);
    const registration = { tokenKind: 'fcm', token, timestamp, audience: server.realmUuid } as const;
    const sealed = sodium.seal(encodePushRegistration(registration, { padded: true }), publicKey);
    const named = count % 2 ? { token_id: computeTokenId(token) } : { push_account_id: randomAccount() };
    return registrationRequest({ ...server, bouncerPublicKey }, sealed, named);
  };
  return async () => Array.from({ length: requestsPerRound }, one);
}

/** Returns a function that builds the notify requests of a round, with one notification each, as from small servers. */
async function notifications({ servers, devices }: SeededTarget): Promise<NextRound> {
  const one = (): Buffer => {
    const { server, id } = devices[Math.floor(Math.random() * devices.length)] as SeededDevice;
    const { authorization, realmUuid } = servers[server] as SeededServer;
    const element = typeof id === 'number' ? apnsRequest(id) : apnsElement(id);
    const body = stringifyJson({ realm_uuid: realmUuid, push_requests: [element] as never });
    return Buffer.from(
      `POST ${relayNotifyPath} HTTP/1.1\r\nHost: relay\r\nAuthorization: ${authorization}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      'latin1',
    );
  };
  return async () => Array.from({ length: requestsPerRound }, one);
}
