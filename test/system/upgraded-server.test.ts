import { createPushClient, createTextStores, type Fetch } from '@waxwing/client';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { TextsInMemory } from '../packages/client/texts-in-memory.js';
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

/** A phone of Ada, whose server announces the level that the test sets. */
async function phoneOfAda() {
  const knobs = { level: 431, token: 'fcm-of-ada' };
  const { keyList: store, ...stores } = createTextStores(new TextsInMemory());
  const announcing: Fetch = async (url, init) => {
    const answer = await fetch(url, init);
    const text = (await answer.text()).replace(
      /"zulip_feature_level":\d+/,
      `"zulip_feature_level":${knobs.level}`,
    );
    return new Response(text, { status: answer.status, headers: answer.headers });
  };
  const client = await createPushClient({
    ...{ ...stores, bouncerPublicKey: world.bouncerPublicKey, fetch: announcing },
    pushToken: () => ({ tokenKind: 'fcm', token: knobs.token }),
  });
  expect(await store.get()).toBeUndefined();
  const { user_id: userId, email, api_key: apiKey } = ada;
  const registrar = client.registrar({ realmUrl: world.serverUrl, userId, email, apiKey });
  /** How many of the phone's pushes open, and which ids they carry. */
  const receive = async () => {
    const found = { messages: [] as string[], fields: new Set<string>() };
    for (const { body } of await world.deliveriesTo(knobs.token)) {
      const { data } = (body as { message: { data: Record<string, string> } }).message;
      const opened = await client.open(data);
      if (opened.kind === 'notification' && opened.notification.type === 'message') {
        found.messages.push(opened.notification.content);
        for (const name of Object.keys(data)) found.fields.add(name);
      }
    }
    return found;
  };
  return { knobs, client, registrar, receive };
}

async function state() {
  const types = JSON.stringify(['push_device', 'device']);
  const { text } = await world.request(ada, 'POST', 'register', { event_types: types });
  const { push_devices, devices } = JSON.parse(text) as Record<string, Record<string, unknown>>;
  return { older: Object.keys(push_devices ?? {}), newer: Object.values(devices ?? {}) };
}

function write(content: string) {
  return world.request(bob, 'POST', 'messages', { type: 'direct', to: `[${ada.user_id}]`, content });
}

it('a phone moves to the newer generation with its server, gets every message once, and is forgotten at sign-out', async () => {
  const { knobs, registrar, receive } = await phoneOfAda();
  await expect(registrar.sync()).resolves.toMatchObject({ code: 'active' });
  expect((await state()).older).toHaveLength(1);
  knobs.level = 500;
  await write('before the upgrade');
  const status = await registrar.sync();
  expect(status).toMatchObject({ code: 'active' });
  expect(status).not.toHaveProperty('warning');
  expect(await state()).toMatchObject({ older: [], newer: [{ pending_push_token_id: null }] });
  await write('after the upgrade');
  const messages: string[] = [];
  const fields = new Set<string>();
  await expect
    .poll(
      async () => {
        const received = await receive();
        messages.push(...received.messages);
        for (const field of received.fields) fields.add(field);
        return messages.toSorted();
      },
      { timeout: 20_000 },
    )
    .toEqual(['after the upgrade', 'before the upgrade']);
  expect(fields).toContain('push_key_id');
  await expect(registrar.sendTestNotification()).resolves.toBeUndefined();

  knobs.token = 'fcm-of-ada-2';
  await expect(registrar.sync()).resolves.toMatchObject({ code: 'active' });
  await write('to another token');
  await expect
    .poll(async () => (await receive()).messages, { timeout: 20_000 })
    .toEqual(['to another token']);
  await registrar.forget();
  expect(await state()).toEqual({ older: [], newer: [] });
}, 120_000);
