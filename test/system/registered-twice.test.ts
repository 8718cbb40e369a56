import {
  createMemoryPushAccountStore,
  createMemorySeenNotifications,
  createPushClient,
  type PushToken,
} from '@waxwing/client';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { addUsers } from '../support/add-users.js';
import { announcing, olderLevel } from '../support/announcing.js';
import { Constellation, type ConstellationUser } from '../support/constellation.js';

let world: Constellation;
let ada: ConstellationUser;
let bob: ConstellationUser;
beforeAll(async () => {
  world = await Constellation.create();
  await Promise.all([world.startRelay(), world.startServer()]);
}, 120_000);
afterAll(() => world.close());

let tests = 0;
beforeEach(async () => {
  tests += 1;
  const names = [`ada-${tests}`, `bob-${tests}`];
  [ada, bob] = (await addUsers(world, names)) as [ConstellationUser, ConstellationUser];
});

/** The server's records of a user's phones, in each generation. */
async function devicesOf(user: ConstellationUser) {
  const types = JSON.stringify(['push_device', 'device']);
  const { text } = await world.request(user, 'POST', 'register', { event_types: types });
  const { push_devices, devices } = JSON.parse(text) as Record<'push_devices' | 'devices', object>;
  return { older: Object.keys(push_devices), newer: Object.values(devices) };
}

const generations = [
  ['newer', undefined],
  ['older', olderLevel],
] as const;

/**
 * Expects that the user has exactly one phone that gets notifications. In the newer generation, its device must have an
 * active token.
 */
async function expectOnePhone(pushAccountId: unknown, level: number | undefined): Promise<void> {
  const one =
    level === undefined
      ? { older: [], newer: [{ push_token_id: expect.any(String), pending_push_token_id: null }] }
      : { older: [String(pushAccountId)], newer: [] };
  expect(await devicesOf(ada)).toMatchObject(one);
}

/** Sends two messages. Returns the number of deliveries to the token. */
async function deliveriesOfTwoMessages(token: string): Promise<number> {
  for (const content of ['one', 'two']) {
    await world.request(bob, 'POST', 'messages', { type: 'direct', to: `[${ada.user_id}]`, content });
  }
  await expect.poll(async () => (await world.deliveriesTo(token)).length).toBeGreaterThan(1);
  return (await world.deliveriesTo(token)).length;
}

/** The token of the current test's phone. */
const fcm = (): PushToken => ({ tokenKind: 'fcm', token: `fcm-of-test-${tests}` });
const vendors: [string, () => PushToken][] = [
  ['FCM', () => fcm()],
  ['APNs', () => ({ tokenKind: 'apns', token: `C0FFEE${tests + 10}`, iosAppId: 'com.example.chat' })],
];

describe.each(generations)('a phone of the %s generation', (_generation, level) => {
  it.each(vendors)(
    'gets each notification once after it lost its stores and registered again with its token: %s',
    async (_, makeToken) => {
      const token = makeToken();
      await (await world.phone(ada, token, level)).registrar.sync();
      const again = await (await world.phone(ada, token, level)).registrar.sync();
      expect(again).toMatchObject({ code: 'active' });
      await expectOnePhone(again.pushAccountId, level);
      expect(await deliveriesOfTwoMessages(token.token)).toBe(2);
    },
    120_000,
  );

  it('keeps both of its users registered', async () => {
    const token = fcm();
    for (const user of [ada, bob]) await (await world.phone(user, token, level)).registrar.sync();
    for (const user of [ada, bob]) {
      const { older, newer } = await devicesOf(user);
      expect([...older, ...newer]).toHaveLength(1);
    }
  }, 120_000);

  it('gets each notification once after its server moved to another URL and it signed in there', async () => {
    const token = fcm();
    const client = await createPushClient({
      bouncerPublicKey: world.bouncerPublicKey,
      pushToken: () => token,
      accounts: createMemoryPushAccountStore(),
      seen: createMemorySeenNotifications(),
      fetch: announcing(() => level),
    });
    const signedInAt = (realmUrl: string) =>
      client.registrar({ realmUrl, userId: ada.user_id, email: ada.email, apiKey: ada.api_key });
    const before = signedInAt(world.serverUrl);
    await expect(before.sync()).resolves.toMatchObject({ code: 'active' });
    await world.endProcesses();
    const movedTo = world.serverUrl.replace('127.0.0.1', 'localhost');
    await Promise.all([world.startRelay(), world.startServer({ SERVER_REALM_URL: movedTo })]);
    const status = await signedInAt(movedTo).sync();
    expect(status).toMatchObject({ code: 'active' });
    await expectOnePhone(status.pushAccountId, level);
    await expect(before.sync()).resolves.toMatchObject({ code: 'wrong-account' });
    expect(await deliveriesOfTwoMessages(token.token)).toBe(2);
    await world.endProcesses();
    await Promise.all([world.startRelay(), world.startServer()]);
  }, 120_000);
});

it('a phone gets each notification once after it lost its stores and registered in the older generation', async () => {
  const token = fcm();
  await (await world.phone(ada, token)).registrar.sync();
  const again = await (await world.phone(ada, token, olderLevel)).registrar.sync();
  expect(again).toMatchObject({ code: 'active' });
  const { older, newer } = await devicesOf(ada);
  expect(older).toEqual([String(again.pushAccountId)]);
  expect(newer).toMatchObject([{ push_token_id: null, pending_push_token_id: null }]);
  expect(await deliveriesOfTwoMessages(token.token)).toBe(2);
}, 120_000);

it('a phone gets each notification once after it lost its stores and its server was upgraded', async () => {
  const token = fcm();
  await (await world.phone(ada, token, olderLevel)).registrar.sync();
  const again = await (await world.phone(ada, token)).registrar.sync();
  expect(again).toMatchObject({ code: 'active' });
  await expectOnePhone(again.pushAccountId, undefined);
  expect(await deliveriesOfTwoMessages(token.token)).toBe(2);
}, 120_000);
