import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { loadFastestSodium } from '@waxwing/sodium/native';
import { freePort } from '../support/free-ports.js';
import { createTemporaryPostgres } from '../support/temporary-postgres.js';
import { untilReady } from '../support/until-ready.js';
import { basicAuthorization } from '../system/crash/ask.js';
import { openWholeRelay } from './bench-relay.js';
import { type BenchResult, medianRates } from './bench-result.js';
import { HttpLoad } from './http-load.js';
import { requestMaker } from './relay-register.js';

const rounds = 7;
const roundMilliseconds = 1000;
const connections = 64;
const workers = 2;
const threadsPerWorker = 4;
const folder = join(import.meta.dirname, 'peer');
// Debian's Python: a different Python on PATH would not find Debian's packages.
const python = '/usr/bin/python3';

/**
 * `relay-peer`, `relay-peer-sqlite`: registrations per second of the relay as shipped, on PostgreSQL and on SQLite,
 * compared with a stand-in for a relay with Django, PyNaCl and PostgreSQL. Skipped if one of these is missing.
 */
export async function run(): Promise<BenchResult[]> {
  const postgresUrl = process.env.WAXWING_TEST_POSTGRES_URL;
  const missing = postgresUrl ? missingPackages() : 'WAXWING_TEST_POSTGRES_URL is not set';
  if (missing !== undefined || postgresUrl === undefined) {
    console.error(`relay-peer and relay-peer-sqlite are skipped: ${missing}`);
    return [];
  }
  const peer = await startPeer(postgresUrl);
  try {
    return [
      await relayAgainst(peer.load, 'relay-peer', postgresUrl),
      await relayAgainst(peer.load, 'relay-peer-sqlite', undefined),
    ];
  } finally {
    await peer.close();
  }
}

function missingPackages(): string | undefined {
  const { status } = spawnSync(python, ['-c', 'import django, nacl, psycopg2, gunicorn'], {
    stdio: 'ignore',
  });
  if (status === 0) return undefined;
  return `${python} lacks Django, PyNaCl, psycopg2 or gunicorn (Debian: python3-django python3-nacl python3-psycopg2 gunicorn)`;
}

async function relayAgainst(
  peer: HttpLoad,
  name: string,
  postgresUrl: string | undefined,
): Promise<BenchResult> {
  const relay = await openWholeRelay(postgresUrl, connections);
  try {
    const subject = (): Promise<number> => relay.load.run(roundMilliseconds);
    const against = (): Promise<number> => peer.run(roundMilliseconds);
    await against();
    const rates = await medianRates(rounds, subject, against);
    return { name, unit: 'registrations/s', ...rates, goal: 4, better: 'higher' };
  } finally {
    await relay.close();
  }
}

/** Starts the stand-in on a new database, and a load generator that registers phones with the stand-in. */
async function startPeer(postgresUrl: string): Promise<{ load: HttpLoad; close(): Promise<void> }> {
  const database = await createTemporaryPostgres(postgresUrl);
  const { sodium } = await loadFastestSodium();
  const pair = sodium.generateKeyPair();
  const [id, key] = [
    '00000000-0000-4000-8000-000000000001',
    Buffer.from(sodium.randomBytes(32)).toString('hex'),
  ];
  const env = {
    PEER_DATABASE: database.url,
    PEER_SERVER_ID: id,
    PEER_SERVER_KEY: key,
    PEER_PRIVATE_KEY: Buffer.from(pair.privateKey).toString('base64'),
  };
  const port = await freePort();
  spawnSync(python, ['relay.py'], { cwd: folder, env, stdio: 'inherit' });
  const child = spawn(python, gunicornArguments(port), {
    cwd: folder,
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const exited = once(child, 'exit');
  let load: HttpLoad | undefined;
  const close = async (): Promise<void> => {
    load?.close();
    child.kill('SIGTERM');
    await exited;
    await database.drop();
  };
  try {
    await untilReady(`http://127.0.0.1:${port}/health/ready`, child);
    const nextRequest = await requestMaker({
      authorization: basicAuthorization(id, key),
      realmUuid: '9aa61d0b-8ce5-488d-8e9e-fedc346e6836',
      bouncerPublicKey: Buffer.from(pair.publicKey).toString('base64'),
    });
    load = await HttpLoad.open({ port, connections, nextRequest });
    return { load, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function gunicornArguments(port: number): string[] {
  const size = ['--workers', `${workers}`, '--worker-class', 'gthread', '--threads', `${threadsPerWorker}`];
  // The long keep-alive leaves connections open between rounds.
  const manner = ['--bind', `127.0.0.1:${port}`, '--keep-alive', '600', '--log-level', 'warning'];
  return ['-B', '-m', 'gunicorn', ...size, ...manner, 'relay:application'];
}
