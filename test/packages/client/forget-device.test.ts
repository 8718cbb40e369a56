import { createTextStores } from '@waxwing/client';
import { describe, expect, it } from 'vitest';
import { modelTokenId } from './model-client-devices.js';
import { TextsInMemory } from './texts-in-memory.js';
import { createUpgradedPhone } from './upgraded-phone.js';

describe('registrar.forget after a server was upgraded', () => {
  it('removes the device from the server, even if the server is unreachable at first', async () => {
    const storage = new TextsInMemory();
    const { keyList: _keyList, ...stores } = createTextStores(storage);
    const { server, client, registrar } = await createUpgradedPhone(stores);
    await registrar.sync();
    const offline = () => Promise.reject(new TypeError('fetch failed'));
    server.overrides.set('/api/v1/remove_client_device', offline);
    await registrar.forget();
    expect(storage.texts.has('waxwing.accounts')).toBe(false);
    expect(server.clientDevices.rows.size).toBe(1);
    server.overrides.clear();
    const { url: realmUrl, apiKey } = server;
    await client.registrar({ realmUrl, userId: 11, email: 'ophelia@example.com', apiKey }).sync();
    await expect.poll(() => storage.texts.has('waxwing.forgotten')).toBe(false);
    expect([...server.clientDevices.rows.values()].map(({ userId }) => userId)).toEqual([11]);
  });

  it('does not affect the device of a sign-in that follows before the server is notified', async () => {
    const { server, client, registrar, clientDevices, notify } = await createUpgradedPhone();
    await registrar.sync();
    server.overrides.set('/api/v1/remove_client_device', () => Promise.reject(new TypeError('fetch failed')));
    await registrar.forget();
    const { url: realmUrl, userId, email, apiKey } = server;
    const again = client.registrar({ realmUrl, userId, email, apiKey });
    await expect(again.sync()).resolves.toMatchObject({ code: 'active' });
    expect([...clientDevices.rows.keys()]).toEqual([1, 2]);
    server.overrides.clear();
    await expect(again.sync()).resolves.toMatchObject({ code: 'active' });
    await expect.poll(() => [...clientDevices.rows.keys()]).toEqual([2]);
    expect(clientDevices.rows.get(2)?.push_token_id).toBe(modelTokenId('fcm-token-1:APA91bExample_-'));
    expect(await notify(1)).toMatchObject([{ kind: 'notification' }]);
  });

  it("keeps the device of the same user at the server's new URL", async () => {
    const { server, client, registrar, clientDevices, notify } = await createUpgradedPhone();
    await registrar.sync();
    const moved = 'https://moved.example.com';
    server.realmUrl = moved;
    const { userId, email, apiKey } = server;
    const renewed = client.registrar({ realmUrl: moved, userId, email, apiKey });
    await expect(renewed.sync()).resolves.toMatchObject({ code: 'active' });
    expect([...clientDevices.rows.keys()]).toEqual([1]);
    await expect(registrar.sync()).resolves.toMatchObject({ code: 'wrong-account' });
    await registrar.forget();
    expect([...clientDevices.rows.keys()]).toEqual([1]);
    expect(await notify(1, moved)).toMatchObject([{ kind: 'notification' }]);
  });
});
