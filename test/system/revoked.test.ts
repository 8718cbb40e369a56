import {
  createMemoryPushAccountStore,
  createMemorySeenNotifications,
  createPushClient,
} from '@waxwing/client';
import { expect, it } from 'vitest';
import { Constellation } from '../support/constellation.js';

it('a phone that signs out while its server is unreachable gets no more notifications, and the server learns of it', async () => {
  const world = await Constellation.create();
  try {
    await Promise.all([world.startRelay(), world.startServer()]);
    const [ada, bob] = [await world.addUser('ada'), await world.addUser('bob')];
    const signIn = { realmUrl: world.serverUrl, userId: ada.user_id, email: ada.email, apiKey: ada.api_key };
    let isListening = true;
    const client = await createPushClient({
      bouncerPublicKey: world.bouncerPublicKey,
      relayUrl: world.relayUrl,
      pushToken: () => ({ tokenKind: 'fcm', token: 'fcm-that-leaves' }),
      accounts: createMemoryPushAccountStore(),
      seen: createMemorySeenNotifications(),
      fetch: (url, init) =>
        isListening || url.startsWith(world.relayUrl)
          ? fetch(url, init)
          : Promise.reject(new TypeError('fetch failed')),
    });
    const registrar = client.registrar(signIn);
    await expect(registrar.sync()).resolves.toMatchObject({ code: 'active' });
    const send = (content: string) =>
      world.request(bob, 'POST', 'messages', { type: 'direct', to: `[${ada.user_id}]`, content });
    const isKnown = async () => {
      const types = { event_types: '["push_device","device"]' };
      const { text } = await world.request(ada, 'POST', 'register', types);
      const { push_devices, devices = {} } = JSON.parse(text) as {
        push_devices: object;
        devices?: Record<string, { push_token_id: string | null }>;
      };
      const hasToken = Object.values(devices).some(({ push_token_id }) => push_token_id !== null);
      return hasToken || Object.keys(push_devices).length > 0;
    };
    await send('one');
    expect(await world.deliveriesTo('fcm-that-leaves')).toHaveLength(1);

    isListening = false;
    await registrar.forget();
    expect(await isKnown()).toBe(true);
    await send('two');
    await expect.poll(isKnown).toBe(false);
    expect(await world.deliveriesTo('fcm-that-leaves')).toHaveLength(1);

    // The user signs in again, and the server finally receives the sign-out.
    isListening = true;
    const again = client.registrar(signIn);
    await expect.poll(async () => (await again.sync()).code).toBe('active');
    await send('three');
    await expect.poll(async () => (await world.deliveriesTo('fcm-that-leaves')).length).toBe(2);
    await again.sync();
    await send('four');
    await expect.poll(async () => (await world.deliveriesTo('fcm-that-leaves')).length).toBe(3);
  } finally {
    await world.close();
  }
}, 120_000);
