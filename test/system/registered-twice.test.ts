import {
  createMemoryPushAccountStore,
  createMemorySeenNotifications,
  createPushClient,
} from '@waxwing/client';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Constellation, type ConstellationUser } from '../support/constellation.js';

let world: Constellation;
let ada: ConstellationUser;
let bob: ConstellationUser;
beforeEach(async () => {
  world = await Constellation.create();
  await Promise.all([world.startRelay(), world.startServer()]);
  [ada, bob] = [await world.addUser('ada'), await world.addUser('bob')];
}, 120_000);
afterEach(() => world.close());

/** The ids of a user's phones, as the server knows them. */
async function devicesOf(user: ConstellationUser): Promise<string[]> {
  const { text } = await world.request(user, 'POST', 'register', { event_types: '["push_device"]' });
  return Object.keys((JSON.parse(text) as { push_devices: object }).push_devices);
}

/** How many deliveries the token has got after two messages. */
async function deliveriesOfTwoMessages(token: string): Promise<number> {
  for (const content of ['one', 'two']) {
    await world.request(bob, 'POST', 'messages', { type: 'direct', to: `[${ada.user_id}]`, content });
  }
  await expect.poll(async () => (await world.deliveriesTo(token)).length).toBeGreaterThan(1);
  return (await world.deliveriesTo(token)).length;
}

it.each([
  ['FCM', { tokenKind: 'fcm', token: 'fcm-of-a-phone' }, 'fcm-of-a-phone'],
  ['APNs', { tokenKind: 'apns', token: 'C0FFEE00', iosAppId: 'com.example.chat' }, 'C0FFEE00'],
] as const)(
  'a phone that lost its stores, and registers again with the token of before, gets all once: %s',
  async (_, token, name) => {
    await (await world.phone(ada, token)).registrar.sync();
    const again = await (await world.phone(ada, token)).registrar.sync();
    expect(again).toMatchObject({ code: 'active' });
    expect(await devicesOf(ada)).toEqual([String(again.pushAccountId)]);
    expect(await deliveriesOfTwoMessages(name)).toBe(2);
  },
  120_000,
);

it('two users of one phone both stay registered', async () => {
  const token = { tokenKind: 'fcm', token: 'fcm-of-both' } as const;
  for (const user of [ada, bob]) await (await world.phone(user, token)).registrar.sync();
  for (const user of [ada, bob]) expect(await devicesOf(user)).toHaveLength(1);
}, 120_000);

it('a phone whose server moved to another URL gets all once after it signs in there, with the stores of before', async () => {
  const client = await createPushClient({
    bouncerPublicKey: world.bouncerPublicKey,
    pushToken: () => ({ tokenKind: 'fcm', token: 'fcm-that-moved' }),
    accounts: createMemoryPushAccountStore(),
    seen: createMemorySeenNotifications(),
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
  expect(await devicesOf(ada)).toEqual([String(status.pushAccountId)]);
  await expect(before.sync()).resolves.toMatchObject({ code: 'wrong-account' });
  expect(await deliveriesOfTwoMessages('fcm-that-moved')).toBe(2);
}, 120_000);
