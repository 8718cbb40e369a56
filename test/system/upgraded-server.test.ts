import { DatabaseSync } from '@photostructure/sqlite';
import { createPushClient, createTextStores, type PushToken } from '@waxwing/client';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { TextsInMemory } from '../packages/client/texts-in-memory.js';
import { addUsers } from '../support/add-users.js';
import { announcing, olderLevel } from '../support/announcing.js';
import { Constellation, type ConstellationUser } from '../support/constellation.js';
import { readDeliveries } from './crash/vendor-deliveries.js';

let world: Constellation;
let ada: ConstellationUser;
let bob: ConstellationUser;
beforeEach(async () => {
  world = await Constellation.create();
  await Promise.all([world.startRelay(), world.startServer()]);
  [ada, bob] = (await addUsers(world, ['ada', 'bob'])) as [ConstellationUser, ConstellationUser];
}, 120_000);
afterEach(() => world.close());

const fcm: PushToken = { tokenKind: 'fcm', token: 'fcm-of-ada' };
const apns: PushToken = { tokenKind: 'apns', token: 'C0FFEE0A', iosAppId: 'org.example.app' };
const ofFormerApp: PushToken = { tokenKind: 'fcm', token: 'fcm-of-a-former-app' };
const timeout = 20_000;

/** Ada's phone. The server announces the older generation to it until `isUpgraded` is set. */
async function phoneOfAda(first: PushToken) {
  const knobs = { isUpgraded: false, pushToken: first };
  const { keyList: _keyList, ...stores } = createTextStores(new TextsInMemory());
  const client = await createPushClient({
    ...stores,
    bouncerPublicKey: world.bouncerPublicKey,
    fetch: announcing(() => (knobs.isUpgraded ? undefined : olderLevel)),
    pushToken: () => knobs.pushToken,
  });
  const { user_id: userId, email, api_key: apiKey } = ada;
  const registrar = client.registrar({ realmUrl: world.serverUrl, userId, email, apiKey });
  const read = new Set<string>();
  const shown: [string, string][] = [];
  const tests: string[] = [];
  const notShown: string[] = [];

  /** All messages that the phone has shown, sorted. Each has the field that identified its key. */
  async function messages(): Promise<[string, string][]> {
    for (const { token, key, encrypted } of await readDeliveries(world.vendors.urls.http)) {
      if (token !== knobs.pushToken.token || read.has(encrypted)) continue;
      read.add(encrypted);
      const opened = await client.open({ [key.name]: key.id, encrypted_data: encrypted });
      if (opened.kind !== 'notification') notShown.push(opened.reason);
      else if (opened.notification.type === 'message') shown.push([opened.notification.content, key.name]);
      else tests.push(opened.notification.type);
    }
    return shown.toSorted();
  }
  return { knobs, registrar, messages, tests, notShown };
}

/** Ada's phones in each generation, according to the server. */
async function state() {
  const types = JSON.stringify(['push_device', 'device']);
  const { text } = await world.request(ada, 'POST', 'register', { event_types: types });
  const { push_devices, devices } = JSON.parse(text) as Record<string, Record<string, unknown>>;
  return { older: Object.keys(push_devices ?? {}), newer: Object.values(devices ?? {}) };
}

function write(content: string) {
  return world.request(bob, 'POST', 'messages', { type: 'direct', to: `[${ada.user_id}]`, content });
}

it('phones from before the upgrade get every message once, and migrate automatically', async () => {
  const moving = [await phoneOfAda(fcm), await phoneOfAda(apns)];
  const staying = await phoneOfAda(ofFormerApp);
  for (const { registrar } of [...moving, staying]) {
    await expect(registrar.sync()).resolves.toMatchObject({ code: 'active' });
  }
  const { older } = await state();
  expect(older).toHaveLength(3);
  const all = [...moving, staying];
  const [account, key] = ['push_account_id', 'push_key_id'];
  await write('1 before the upgrade');
  for (const { messages } of all) {
    await expect.poll(messages, { timeout }).toEqual([['1 before the upgrade', account]]);
  }

  await world.endProcesses();
  await world.startServer();
  for (const { knobs } of moving) knobs.isUpgraded = true;
  await write('2 without the relay');
  for (const { registrar } of moving) {
    const status = await registrar.sync({ settleTimeoutMilliseconds: 0 });
    // The registration in the older generation is still active.
    expect(status).toMatchObject({ code: 'active', warning: expect.stringContaining('has been upgraded') });
  }
  expect(await state()).toMatchObject({ older, newer: [{ push_token_id: null }, { push_token_id: null }] });
  await world.startRelay();
  for (const { registrar } of moving) {
    const settled = async () => (await registrar.sync()).warning;
    await expect.poll(settled, { timeout }).toBeUndefined();
  }
  const inForce = { push_token_id: expect.any(String), pending_push_token_id: null };
  expect(await state()).toMatchObject({ older: [older[2]], newer: [inForce, inForce] });
  await write('3 after the move');
  for (const { messages } of all) {
    await expect.poll(async () => (await messages()).length, { timeout }).toBe(3);
  }
  for (const { messages, notShown } of moving) {
    const texts = (await messages()).map(([text]) => text);
    expect(texts).toEqual(['1 before the upgrade', '2 without the relay', '3 after the move']);
    expect(await messages()).toContainEqual(['3 after the move', key]);
    expect(notShown).toEqual([]);
  }
  expect(await staying.messages()).toContainEqual(['3 after the move', account]);
  expect(staying.notShown).toEqual([]);
}, 120_000);

/** Number of notifications in the relay's queue, and number of the relay's devices. */
function relayCounts(): { readonly queued: number; readonly devices: number } {
  const database = new DatabaseSync((world.relayEnv.RELAY_DATABASE ?? '').slice('sqlite:'.length), {
    readOnly: true,
  });
  try {
    const count = (rows: string) =>
      Number(database.prepare(`select count(*) as count from ${rows}`).get()?.count);
    return {
      queued: count("delivery_receipts where status = 'queued'"),
      devices: count('relay_devices'),
    };
  } finally {
    database.close();
  }
}

/** Sends a message to the phone and migrates the phone, while FCM fails. Returns the phone. */
async function migrateWithQueuedMessage() {
  const phone = await phoneOfAda(fcm);
  await phone.registrar.sync();
  const rules = [{ vendor: 'fcm', status: 503 }];
  const faults = `${world.vendors.urls.http}/faults`;
  await fetch(faults, { method: 'PUT', body: JSON.stringify({ rules }) });
  await write('during the outage');
  await expect.poll(relayCounts, { timeout }).toEqual({ queued: 1, devices: 1 });
  phone.knobs.isUpgraded = true;
  await expect(phone.registrar.sync()).resolves.toMatchObject({ code: 'active' });
  expect(await state()).toMatchObject({ older: [], newer: [{ pending_push_token_id: null }] });
  return { ...phone, endOutage: () => fetch(faults, { method: 'DELETE' }) };
}

it('a notification in the relay’s queue arrives once, even if its phone migrates before the delivery', async () => {
  const { messages, notShown, endOutage } = await migrateWithQueuedMessage();
  await endOutage();
  await expect.poll(relayCounts, { timeout: 60_000 }).toMatchObject({ queued: 0 });
  expect(await messages()).toEqual([['during the outage', 'push_account_id']]);
  expect(notShown).toEqual([]);
}, 120_000);

it('a notification in the relay’s queue does not arrive if its phone migrates and then signs out', async () => {
  const { registrar, messages, notShown, endOutage } = await migrateWithQueuedMessage();
  await registrar.forget();
  await expect.poll(relayCounts, { timeout }).toMatchObject({ devices: 0 });
  await endOutage();
  await expect.poll(relayCounts, { timeout: 60_000 }).toMatchObject({ queued: 0 });
  expect([await messages(), notShown]).toEqual([[], []]);
}, 120_000);

it('a migrated phone can change its token, and is removed at sign-out', async () => {
  const { knobs, registrar, messages, tests } = await phoneOfAda(fcm);
  await registrar.sync();
  knobs.isUpgraded = true;
  const status = await registrar.sync();
  expect(status).toMatchObject({ code: 'active' });
  expect(status).not.toHaveProperty('warning');
  expect(await state()).toMatchObject({ older: [], newer: [{ pending_push_token_id: null }] });
  await expect(registrar.sendTestNotification()).resolves.toBeUndefined();
  await expect.poll(() => messages().then(() => tests), { timeout }).toEqual(['test']);

  knobs.pushToken = { tokenKind: 'fcm', token: 'fcm-of-ada-2' };
  await expect(registrar.sync()).resolves.toMatchObject({ code: 'active' });
  await write('to another token');
  await expect.poll(messages, { timeout }).toEqual([['to another token', 'push_key_id']]);
  await registrar.forget();
  expect(await state()).toEqual({ older: [], newer: [] });
}, 120_000);
