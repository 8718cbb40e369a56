import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { DatabaseSync } from '@photostructure/sqlite';
import { withFileLock } from '@waxwing/storage';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { addUsers } from '../support/add-users.js';
import { Constellation, type ConstellationUser } from '../support/constellation.js';
import { publicKeyOf } from '../support/noble-oracle.js';
import { RelayStandIn, registered } from '../support/relay-stand-in.js';
import { measureSlowdown } from '../support/slowdown.js';
import { runJsonCommand, type SpawnedProcess } from '../support/spawned-process.js';

/** Exit status of a process that finished within ten seconds after SIGTERM, according to the process's own timer. */
const endedInTime = 0;

let world: Constellation;
let user: ConstellationUser;

beforeAll(async () => {
  world = await Constellation.create();
}, 120_000);

let tests = 0;
beforeEach(async () => {
  tests += 1;
  user = (await addUsers(world, [`ada-${tests}`]))[0] as ConstellationUser;
});

afterEach(() => world.endProcesses());
afterAll(() => world.close());

async function openQueue() {
  const { text } = await world.request(user, 'POST', 'register', { event_types: '["push_device"]' });
  const { queue_id, last_event_id } = JSON.parse(text) as { queue_id: string; last_event_id: number };
  return { queue_id, last_event_id: String(last_event_id) };
}

function registration(pushAccountId: string): Record<string, string> {
  return {
    token_kind: 'fcm',
    push_account_id: pushAccountId,
    push_public_key: Buffer.from(publicKeyOf(randomBytes(32))).toString('base64'),
    bouncer_public_key: world.bouncerPublicKey,
    encrypted_push_registration: Buffer.alloc(120, 7).toString('base64'),
  };
}

/** Whether a process accepts a request. During shutdown, it refuses the connection or responds with 503. */
async function takesRequests(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/api/v1/events`, { headers: { connection: 'close' } });
    return response.status !== 503;
  } catch (error) {
    if (error instanceof TypeError) return false;
    throw error;
  }
}

describe('a server on SIGTERM', () => {
  let relay: RelayStandIn;
  beforeEach(async () => {
    relay = await RelayStandIn.start();
  });
  afterEach(() => relay.close());

  it('answers long polls, releases its running jobs, and exits in time', async () => {
    const env = { SERVER_RELAY_URL: relay.url };
    const server = await world.startServer(env);
    const queue = await openQueue();
    const poll = world.request(user, 'GET', 'events', queue);
    relay.otherwise('silence');
    expect((await world.request(user, 'POST', 'mobile_push/register', registration('1'))).status).toBe(200);
    while (relay.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));

    const ended = server.end();
    const answer = await poll;
    expect([answer.status, JSON.parse(answer.text)]).toMatchObject([200, { events: [] }]);
    expect(await takesRequests(world.serverUrl)).toBe(false);
    expect(await ended).toBe(endedInTime);
    expect(server.output).toContain('"msg":"closed"');

    relay.otherwise(registered(11));
    await world.startServer(env);
    const { text } = await world.request(user, 'GET', 'events', queue);
    expect(JSON.parse(text)).toMatchObject({
      events: [{ type: 'push_device', push_account_id: '1', status: 'active' }],
    });
    expect(relay.requests).toHaveLength(2);
  }, 120_000);
});

describe('a server on SIGTERM while its relay does not respond', () => {
  let relay: RelayStandIn;
  beforeEach(async () => {
    relay = await RelayStandIn.start();
  });
  afterEach(() => relay.close());

  it('exits in time despite pending requests for test notifications and key lists, and the next process continues immediately', async () => {
    const env = { SERVER_RELAY_URL: relay.url };
    const server = await world.startServer(env);
    relay.otherwise(registered(11));
    const register = (id: string) => world.request(user, 'POST', 'mobile_push/register', registration(id));
    const devices = async () =>
      JSON.parse((await world.request(user, 'POST', 'register')).text).push_devices as Record<
        string,
        unknown
      >;
    const active = { status: 'active', error_code: null };
    await register('1');
    await expect.poll(devices).toEqual({ 1: active });
    relay.otherwise('silence');
    await register('2');
    const sent = world.request(user, 'POST', 'mobile_push/e2ee/test_notification');
    const keyList = fetch(`${world.serverUrl}/api/v1/mobile_push/bouncer_keys`).then(
      ({ status }) => status,
      () => 'dropped',
    );
    const asked = () => relay.requests.slice(1).map(({ path }) => path.split('/').at(-1));
    await expect.poll(() => new Set(asked())).toEqual(new Set(['register', 'notify', 'keys']));
    expect(await server.end()).toBe(endedInTime);
    expect((await sent).status).toBeGreaterThanOrEqual(500);
    expect(await keyList).not.toBe(200);
    relay.otherwise(registered(12));
    await world.startServer(env);
    await expect.poll(devices, { timeout: 20_000 }).toEqual({ 1: active, 2: active });
  }, 120_000);
});

describe('a relay on SIGTERM', () => {
  it('completes the delivery in flight and exits in time', async () => {
    const [relay] = await Promise.all([world.startRelay(), world.startServer()]);
    const token = `fcm-slow-token-${tests}`;
    const phone = await world.phone(user, { tokenKind: 'fcm', token });
    expect(await phone.registrar.sync()).toMatchObject({ code: 'active' });
    const rules = [{ vendor: 'fcm', token, latency_ms: 1500 }];
    await fetch(`${world.vendors.urls.http}/faults`, { method: 'PUT', body: JSON.stringify({ rules }) });
    const sent = world.request(user, 'POST', 'mobile_push/e2ee/test_notification');
    await world.deliveriesTo(token);
    const ended = relay.end();
    expect((await sent).status).toBe(200);
    expect(await ended).toBe(endedInTime);
    expect(await takesRequests(world.relayUrl)).toBe(false);
  }, 120_000);
});

describe('a relay on SIGTERM while a vendor does not respond', () => {
  it('stores deliveries in flight, completes requests, and exits in time', async () => {
    const [relay] = await Promise.all([world.startRelay(), world.startServer()]);
    const token = `fcm-silent-token-${tests}`;
    const phone = await world.phone(user, { tokenKind: 'fcm', token });
    expect(await phone.registrar.sync()).toMatchObject({ code: 'active' });
    const faults = (rules: readonly object[]) =>
      fetch(`${world.vendors.urls.http}/faults`, { method: 'PUT', body: JSON.stringify({ rules }) });
    await faults([{ vendor: 'fcm', token, latency_ms: 60_000 }]);
    const begun = performance.now();
    const slowdown = measureSlowdown(process.pid);
    const sent = world.request(user, 'POST', 'mobile_push/e2ee/test_notification');
    await world.deliveriesTo(token);
    const answered = sent.then(({ status }) => ({ status, after: performance.now() - begun }));
    expect(await relay.end()).toBe(endedInTime);
    const { status, after } = await answered;
    expect(status).toBe(200);
    // Outside of a shutdown, requests wait up to eight seconds for vendors.
    expect(after, 'milliseconds').toBeLessThan(8000 * slowdown());
    await faults([]);
    const { jobs } = await runJsonCommand<{ jobs: { kind: string; state: string }[] }>(
      'waxwing-relay',
      ['queue', 'list', '--kind', 'deliver-notification'],
      { env: world.relayEnv },
    );
    expect(new Set(jobs.map(({ state }) => state))).toEqual(new Set(['waiting']));
  }, 120_000);
});

describe('a relay that is starting', () => {
  it('accepts no request before its database is migrated', async () => {
    const database = new DatabaseSync((world.relayEnv.RELAY_DATABASE ?? '').slice('sqlite:'.length));
    database.exec('begin immediate');
    const relay = world.spawnRelay();
    try {
      while (!relay.output.includes('encryption loaded')) {
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      expect(await takesRequests(world.relayUrl)).toBe(false);
      expect(relay.output).not.toContain('"msg":"ready"');
    } finally {
      database.exec('rollback');
      database.close();
    }
    await relay.readyAt(`${world.relayUrl}/health/ready`);
    expect(await relay.end()).toBe(endedInTime);
  }, 120_000);

  it('releases everything that it opened if it gets SIGTERM during startup', async () => {
    const { RELAY_KEY_RING: ring = '' } = world.relayEnv;
    let relay: SpawnedProcess | undefined;
    let ending: Promise<number | null> | undefined;
    const starts = () => readFileSync(`${ring}.audit.jsonl`, 'utf8').split('"action":"start"').length;
    const before = starts();
    await withFileLock(`${ring}.lock`, async () => {
      relay = world.spawnRelay();
      // At this point, the relay has opened its database and waits for the lock.
      await expect.poll(starts).toBe(before + 1);
      ending = relay.end();
      await expect.poll(() => relay?.output).toContain('"msg":"closing"');
    });
    expect(await ending).toBe(endedInTime);
    expect(relay?.output).toContain('"msg":"closed"');
    expect(existsSync(`${ring}.sock`)).toBe(false);
  }, 120_000);
});
