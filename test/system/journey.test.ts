import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PushToken } from '@waxwing/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Constellation, type ConstellationUser } from '../support/constellation.js';
import type { SpawnedProcess } from '../support/spawned-process.js';

const fcmToken = `fcm-${'x9'.repeat(60)}:APA91b-journey`;
const apnsToken = `${'C0FFEE'.repeat(10)}0A1B`;
const tokens: Record<string, PushToken> = {
  FCM: { tokenKind: 'fcm', token: fcmToken },
  APNs: { tokenKind: 'apns', token: apnsToken, iosAppId: 'org.example.app' },
};

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

describe('a device registers, a server notifies, and only the device can read it', () => {
  for (const [vendor, token] of Object.entries(tokens)) {
    it(`through ${vendor}`, async () => {
      const [user] = users as [ConstellationUser];
      const phone = await world.phone(user, token);
      const status = await phone.registrar.sync();
      expect(status).toMatchObject({ code: 'active' });
      await phone.registrar.sendTestNotification();

      const [delivery] = await world.deliveriesTo(token.token);
      expect(delivery?.vendor).toBe(vendor.toLowerCase());
      const received = vendor === 'FCM' ? dataOf(delivery?.body) : rawApnsBody(delivery?.text ?? '');
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
      // The 64-bit id arrives whole.
      expect(delivery?.text).toContain(String(status.pushAccountId));
    });
  }

  it('shows Apple only a fixed text', async () => {
    const [delivery] = await world.deliveriesTo(apnsToken);
    expect(delivery?.body).toMatchObject({
      aps: { 'mutable-content': 1, alert: { title: 'New notification' }, sound: 'default' },
    });
    expect(delivery?.headers).toMatchObject({ 'apns-topic': 'org.example.app', 'apns-push-type': 'alert' });
  });
});

describe('what each party stores after the journeys', () => {
  it('of the server: neither a token nor an API key, in its database, its log, or its memory', async () => {
    const heap = await heapSnapshot(server, world.serverUrl);
    const stored = filesOf('server.sqlite');
    for (const { token } of Object.values(tokens)) {
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
    // The search does find what is there.
    expect(stored.includes(users[0]?.email ?? '')).toBe(true);
    expect(heap.includes(world.realmUuid)).toBe(true);
  }, 60_000);

  it('of the relay: no plaintext anywhere, and no token in its database or log', async () => {
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
    for (const { token } of Object.values(tokens)) {
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

/** The APNs body as text, because a JSON parser would round the 64-bit id. */
function rawApnsBody(deliveries: string): string {
  const id = /"push_account_id":\s*(-?\d+)/.exec(deliveries)?.[1];
  const encrypted = /"encrypted_data":\s*"([^"]+)"/.exec(deliveries)?.[1];
  return `{"push_account_id":${id},"encrypted_data":"${encrypted}"}`;
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

/** All strings of a process's heap, from its own snapshot; it keeps serving. */
async function heapSnapshot({ child }: SpawnedProcess, url: string): Promise<Buffer> {
  const before = new Set(readdirSync(world.dir));
  child.kill('SIGUSR2');
  for (;;) {
    const name = readdirSync(world.dir).find((file) => file.endsWith('.heapsnapshot') && !before.has(file));
    if (name !== undefined) {
      const bytes = readFileSync(join(world.dir, name));
      // The strings come last; the file is whole once it ends as JSON does.
      if (bytes.subarray(-3).toString().trimEnd().endsWith(']}')) {
        expect((await fetch(`${url}/health/ready`)).status).toBe(200);
        return bytes;
      }
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
