import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { cookieIn } from '../support/dashboard-requests.js';
import { createBenchWorld, openRegistrationLoad } from './bench-relay.js';
import { type BenchResult, median, medianRates, type Rates } from './bench-result.js';

const servers = 1000;
const minutes = 7 * 24 * 60;
const deliveriesPerMinute = 100;
const hours = 7 * 24;
const openings = 9;
const openWithinMilliseconds = 2000;
const openDashboards = 3;
const rounds = 9;
// Longer than the interval between events, so that each round has at least one event.
const roundMilliseconds = 6000;
const connections = 256;
const adminToken = 'the-token-of-the-operator-of-this-relay';

/**
 * `dashboard`: registrations per second of a relay on SQLite with three open dashboards, compared with none.
 * `dashboard-open`: latency of the overview of a day, compared with two seconds. The relay has 1,000 servers and the
 * dashboard's records of a million deliveries: rows in `minute_counts` and `server_activity` for seven days.
 */
export async function run(): Promise<BenchResult[]> {
  const world = await createBenchWorld(undefined);
  const { dir, relayEnv, relayUrl } = world.constellation;
  try {
    const tokenFile = join(dir, 'admin-token');
    writeFileSync(tokenFile, adminToken, { mode: 0o600 });
    recordDeliveries((relayEnv.RELAY_DATABASE ?? '').slice('sqlite:'.length));
    await world.constellation.startRelay({ RELAY_ADMIN_TOKEN_FILE: tokenFile, RELAY_ADMIN_ON: 'main' });
    const cookie = await signIn(relayUrl);
    const opening = await timeOfOpening(relayUrl, cookie);
    const load = await openRegistrationLoad(world, Number(relayEnv.RELAY_PORT), connections);
    await load.run(1000);
    const rates = await medianRates(
      rounds,
      () => withOpenDashboards(relayUrl, cookie, () => load.run(roundMilliseconds)),
      () => load.run(roundMilliseconds),
    );
    load.close();
    return [
      { name: 'dashboard', unit: 'registrations/s', ...rates, goal: 0.95, better: 'higher' },
      { name: 'dashboard-open', unit: 'ms', ...opening, goal: 1, better: 'lower' },
    ];
  } finally {
    await world.close();
  }
}

/** Inserts servers, and the rows that a relay stores for 1,008,000 deliveries over the last seven days. */
function recordDeliveries(path: string): void {
  const database = new DatabaseSync(path);
  try {
    database.exec('pragma synchronous = off; begin');
    const now = Date.now();
    const server = database.prepare(
      'insert into servers (id, name, key_hash, created_at) values (?, ?, ?, ?)',
    );
    const activity = database.prepare('insert into server_activity values (?, ?, ?, 0, 0, ?)');
    const hour = Math.floor(now / 3_600_000);
    for (let index = 0; index < servers; index += 1) {
      const id = randomUUID();
      server.run(id, `server ${index}`, 'x'.repeat(64), now);
      for (let ago = 0; ago < hours; ago += 1) {
        activity.run(id, hour - ago, (deliveriesPerMinute * 60) / servers, now);
      }
    }
    const count = database.prepare('insert into minute_counts values (?, ?, ?, ?)');
    const minute = Math.floor(now / 60_000);
    for (let ago = 1; ago <= minutes; ago += 1) {
      const row = (vendor: string, outcome: string, amount: number) =>
        count.run(minute - ago, vendor, outcome, amount);
      for (const vendor of ['fcm', 'apns']) {
        row(vendor, 'delivered', deliveriesPerMinute / 2);
        row(vendor, 'rejected', 1);
        row(vendor, 'retried', 1);
      }
      for (const bound of [50, 100, 200, 500, 1000]) row('', `within ${bound}`, deliveriesPerMinute / 5);
      row('', 'registered', 10);
    }
    database.exec('commit');
  } finally {
    database.close();
  }
}

async function signIn(url: string): Promise<string> {
  const answer = await fetch(`${url}/admin/api/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
    body: JSON.stringify({ token: adminToken }),
  });
  if (answer.status >= 300) throw new Error(`the sign-in was refused: ${await answer.text()}`);
  return cookieIn({ headers: { 'set-cookie': answer.headers.get('set-cookie') ?? '' } });
}

async function timeOfOpening(url: string, cookie: string): Promise<Rates> {
  const times: number[] = [];
  for (let count = 0; count < openings; count += 1) {
    const start = performance.now();
    const answer = await fetch(`${url}/admin/api/overview?minutes=1440`, { headers: { cookie } });
    const text = await answer.text();
    if (answer.status !== 200) throw new Error(`the overview was refused: ${text}`);
    times.push(performance.now() - start);
  }
  const value = median(times);
  return { value, against: openWithinMilliseconds, ratio: value / openWithinMilliseconds };
}

/** Runs `work` while three dashboards read the event stream. */
async function withOpenDashboards<Result>(
  url: string,
  cookie: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const leaving = new AbortController();
  const following = Array.from({ length: openDashboards }, () => follow(url, cookie, leaving.signal));
  const result = await work().finally(() => leaving.abort());
  const bytes = await Promise.all(following);
  if (bytes.includes(0)) throw new Error('a dashboard got no event');
  return result;
}

/** Reads events until `signal` is aborted. Returns their total size in bytes. */
async function follow(url: string, cookie: string, signal: AbortSignal): Promise<number> {
  let bytes = 0;
  try {
    const { body } = await fetch(`${url}/admin/api/events`, { headers: { cookie }, signal });
    for await (const chunk of body ?? []) bytes += chunk.length;
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return bytes;
}
