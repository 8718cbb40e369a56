import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PushToken, RegistrationStatus } from '@waxwing/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { olderLevel } from '../support/announcing.js';
import { Constellation, type ConstellationUser } from '../support/constellation.js';
import type { SpawnedProcess } from '../support/spawned-process.js';

interface Journey {
  readonly generation: 'newer' | 'older';
  readonly vendor: 'FCM' | 'APNs';
  readonly token: PushToken;
  readonly featureLevel?: number;
}

const older = { generation: 'older', featureLevel: olderLevel } as const;
const newer = { generation: 'newer' } as const;
const fcm = (name: string) => ({ tokenKind: 'fcm', token: `fcm-${name.repeat(60)}:APA91b-journey` }) as const;
const apns = (end: string) =>
  ({ tokenKind: 'apns', token: `${'C0FFEE'.repeat(10)}${end}`, iosAppId: 'org.example.app' }) as const;
const journeys: readonly Journey[] = [
  { ...newer, vendor: 'FCM', token: fcm('x9') },
  { ...newer, vendor: 'APNs', token: apns('0A1B') },
  { ...older, vendor: 'FCM', token: fcm('y8') },
  { ...older, vendor: 'APNs', token: apns('2C3D') },
];
const tokens = journeys.map(({ token }) => token);

let world: Constellation;
let relay: SpawnedProcess;
let server: SpawnedProcess;
const users: ConstellationUser[] = [];

beforeAll(async () => {
  world = await Constellation.create({
    relay: { RELAY_LOG_LEVEL: 'trace' },
    server: { SERVER_LOG_LEVEL: 'trace' },
  });
  const heap = { NODE_OPTIONS: `--heapsnapshot-signal=SIGUSR2 --diagnostic-dir=${world.dir}` };
  [relay, server] = await Promise.all([world.startRelay(heap), world.startServer(heap)]);
  users.push(await world.addUser('ada'));
}, 60_000);

afterAll(() => world.close());

describe('a notification from a server to a device', () => {
  it.each(journeys)(
    'can be read only by the registered device: $generation generation, $vendor',
    async (journey) => {
      const [user] = users as [ConstellationUser];
      const { vendor, token, featureLevel } = journey;
      const phone = await world.phone(user, token, featureLevel);
      const status = await phone.registrar.sync();
      expect(status).toMatchObject({ code: 'active' });
      await phone.registrar.sendTestNotification();

      const [delivery] = await world.deliveriesTo(token.token);
      expect(delivery?.vendor).toBe(vendor.toLowerCase());
      const { name, id } = await addresseeOf(journey, status);
      expect(delivery?.text).toMatch(new RegExp(`"${name}":"?${id}"?,`));
      const received = vendor === 'FCM' ? dataOf(delivery?.body) : rawApnsBody(name, delivery?.text ?? '');
      const opened = await phone.client.open(received);
      expect(opened).toMatchObject({
        kind: 'notification',
        notification: {
          type: 'test',
          realm_name: 'System',
          realm_url: world.serverUrl,
          user_id: user.user_id,
        },
      });
      expect(await phone.client.open(received)).toMatchObject({ kind: 'ignored', reason: 'repeat' });
    },
  );

  it.each(journeys.filter(({ vendor }) => vendor === 'APNs'))(
    'shows Apple only a fixed text: $generation generation',
    async ({ token: { token } }) => {
      const [delivery] = await world.deliveriesTo(token);
      expect(delivery?.body).toMatchObject({
        aps: { 'mutable-content': 1, alert: { title: 'New notification' }, sound: 'default' },
      });
      expect(delivery?.headers).toMatchObject({
        'apns-topic': 'org.example.app',
        'apns-push-type': 'alert',
      });
    },
  );
});

describe('the data that each party stores', () => {
  it('contains neither tokens nor API keys in the server’s database, log or memory', async () => {
    const heap = await heapSnapshot(server, world.serverUrl);
    const stored = filesOf('server.sqlite');
    for (const { token } of tokens) {
      for (const form of formsOf(token)) {
        expect(stored.includes(form)).toBe(false);
        expect(server.output.includes(form)).toBe(false);
        expect(heap.includes(form)).toBe(false);
      }
    }
    for (const { api_key: key, email } of users) {
      expect(stored.includes(key)).toBe(false);
      expect(server.output.includes(key)).toBe(false);
      expect(server.output.includes(email)).toBe(false);
    }
    // Positive control: the search finds text that is known to be stored.
    expect(stored.includes(users[0]?.email ?? '')).toBe(true);
    expect(heap.includes(world.realmUuid)).toBe(true);
  }, 60_000);

  it('contains no plaintext at the relay, and no token in its database or log', async () => {
    const heap = await heapSnapshot(relay, world.relayUrl);
    const stored = filesOf('relay.sqlite');
    for (const plaintext of [
      '"type":"test"',
      '"realm_name":"System"',
      world.serverUrl.slice('http://'.length),
    ]) {
      expect(stored.includes(plaintext)).toBe(false);
      expect(relay.output.includes(plaintext)).toBe(false);
      expect(heap.includes(plaintext)).toBe(false);
    }
    for (const { token } of tokens) {
      for (const form of formsOf(token)) {
        expect(stored.includes(form)).toBe(false);
        expect(relay.output.includes(form)).toBe(false);
      }
    }
    expect(stored.includes(world.realmUuid)).toBe(true);
    expect(heap.includes(world.realmUuid)).toBe(true);
  }, 60_000);
});

function dataOf(body: unknown): Record<string, string> {
  return (body as { message: { data: Record<string, string> } }).message.data;
}

/**
 * Name and value of the push field that identifies the addressee. In the older generation, the value is a 64-bit
 * integer, which must not be rounded.
 */
async function addresseeOf({ generation, token }: Journey, { pushAccountId }: RegistrationStatus) {
  if (generation === 'older') return { name: 'push_account_id', id: String(pushAccountId) };
  const [user] = users as [ConstellationUser];
  const { text } = await world.request(user, 'POST', 'register', { fetch_event_types: '["device"]' });
  const { devices } = JSON.parse(text) as { devices: Record<string, Record<string, unknown>> };
  const tokenId = hash('sha256', token.token, 'buffer').subarray(0, 8).toString('base64');
  const own = Object.values(devices).filter(({ push_token_id }) => push_token_id === tokenId);
  expect(own).toHaveLength(1);
  return { name: 'push_key_id', id: String(own[0]?.push_key_id) };
}

/** The APNs body as a string, because a JSON parser would round a 64-bit id. */
function rawApnsBody(name: string, deliveries: string): string {
  const id = new RegExp(`"${name}":\\s*(-?\\d+)`).exec(deliveries)?.[1];
  const encrypted = /"encrypted_data":\s*"([^"]+)"/.exec(deliveries)?.[1];
  return `{"${name}":${id},"encrypted_data":"${encrypted}"}`;
}

function formsOf(token: string): string[] {
  const bytes = Buffer.from(token);
  const base64 = bytes.toString('base64');
  return [token, token.toLowerCase(), bytes.toString('hex'), base64.slice(0, -4), encodeURIComponent(token)];
}

function filesOf(database: string): Buffer {
  const names = readdirSync(world.dir).filter((name) => name.startsWith(database));
  expect(names).toContain(database);
  return Buffer.concat(names.map((name) => readFileSync(join(world.dir, name))));
}

/** Takes a heap snapshot, which contains all strings on the process's heap, without stopping the process. */
async function heapSnapshot({ child }: SpawnedProcess, url: string): Promise<Buffer> {
  const before = new Set(readdirSync(world.dir));
  child.kill('SIGUSR2');
  for (;;) {
    const name = readdirSync(world.dir).find((file) => file.endsWith('.heapsnapshot') && !before.has(file));
    if (name !== undefined) {
      const bytes = readFileSync(join(world.dir, name));
      // The snapshot is complete once its file ends like JSON. The strings come last.
      if (bytes.subarray(-3).toString().trimEnd().endsWith(']}')) {
        expect((await fetch(`${url}/health/ready`)).status).toBe(200);
        return bytes;
      }
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
