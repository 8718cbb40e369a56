import { createMemoryPushAccountStore } from '@waxwing/client';
import { describe, expect, it } from 'vitest';
import { modelTokenId } from './model-client-devices.js';
import { createUpgradedPhone } from './upgraded-phone.js';

const day = 86_400_000;
const token = 'fcm-token-1:APA91bExample_-';
const tokenId = modelTokenId(token);

describe('registrar.sync with a server of the newer generation', () => {
  it('creates a device, and sends its key and token in one request', async () => {
    const { server, clientDevices, registrar, row, sent, bouncerPublicKey } = await createUpgradedPhone();
    const status = await registrar.sync();
    const { pushAccountId, device } = await row();
    expect(status).toEqual({
      code: 'active',
      sentence: 'Notifications are on for this phone.',
      keySource: 'built-in',
      pushAccountId,
    });
    expect(server.requestsTo('register_client_device')).toHaveLength(1);
    const [key] = device?.pushKeys ?? [];
    const [request] = sent();
    expect(Object.keys(request ?? {})).toEqual([
      ...['device_id', 'push_key_id', 'push_key', 'token_kind', 'token_id', 'bouncer_public_key'],
      'encrypted_push_registration',
    ]);
    expect(request).toMatchObject({
      device_id: '1',
      push_key_id: String(key?.pushKeyId),
      push_key: expect.stringMatching(/^M.{43}$/),
      token_kind: 'fcm',
      token_id: tokenId,
      bouncer_public_key: bouncerPublicKey,
    });
    expect(clientDevices.opened.map(({ registration }) => registration)).toEqual([
      {
        token_kind: 'fcm',
        token,
        timestamp: Math.floor(server.now / 1000),
        audience: server.realmUuid,
        nonce: expect.any(String),
      },
    ]);
    expect(device).toMatchObject({ deviceId: 1, pushKeys: [{ createdAt: server.now }] });
  });

  it('sends nothing when the server is up to date', async () => {
    const { server, registrar, sent } = await createUpgradedPhone();
    await registrar.sync();
    server.now += 29 * day;
    await expect(registrar.sync()).resolves.toMatchObject({ code: 'active' });
    expect(sent()).toHaveLength(1);
    expect(server.requestsTo('register_client_device')).toHaveLength(1);
  });

  it('sends only the token if only the token changed', async () => {
    const { knobs, registrar, sent, device } = await createUpgradedPhone();
    await registrar.sync();
    knobs.token = { tokenKind: 'fcm', token: 'another' };
    await expect(registrar.sync()).resolves.toMatchObject({ code: 'active' });
    expect(Object.keys(sent()[1] ?? {})).toEqual([
      ...['device_id', 'token_kind', 'token_id', 'bouncer_public_key', 'encrypted_push_registration'],
    ]);
    expect(device().push_token_id).toBe(modelTokenId('another'));
  });

  /** A device with a key that is ten days older than its token. */
  async function withNewToken() {
    const phone = await createUpgradedPhone();
    await phone.registrar.sync();
    phone.server.now += 10 * day;
    phone.knobs.token = { tokenKind: 'fcm', token: 'another' };
    await phone.registrar.sync();
    return phone;
  }

  it('sends only a new key to rotate the key after 30 days, and keeps the previous key', async () => {
    const { server, registrar, sent, row, device } = await withNewToken();
    const [first] = (await row()).device?.pushKeys ?? [];
    server.now += 20 * day;
    await expect(registrar.sync()).resolves.toMatchObject({ code: 'active' });
    const keys = (await row()).device?.pushKeys ?? [];
    expect(keys).toEqual([
      { ...first, supersededAt: server.now },
      { pushKeyId: expect.any(Number), key: expect.any(Uint8Array), createdAt: server.now },
    ]);
    expect(device().push_key_id).toBe(keys[1]?.pushKeyId);
    expect(keys[1]?.pushKeyId).not.toBe(first?.pushKeyId);
    expect(sent().slice(2).map(Object.keys)).toEqual([['device_id', 'push_key_id', 'push_key']]);
  });

  it('creates a new device with a new key if the server has dropped the device, and keeps the former key', async () => {
    const { server, registrar, clientDevices, row, device } = await createUpgradedPhone();
    await registrar.sync();
    const [former] = (await row()).device?.pushKeys ?? [];
    clientDevices.remove(10, 1);
    // Failed attempts must not accumulate keys.
    server.overrides.set('/api/v1/register_client_device', () => server.error('INTERNAL', 500));
    for (let tries = 0; tries < 3; tries += 1) await registrar.sync();
    server.overrides.clear();
    await expect(registrar.sync()).resolves.toMatchObject({ code: 'active' });
    const { deviceId, pushKeys = [] } = (await row()).device ?? {};
    expect([deviceId, pushKeys.length, pushKeys[0]]).toMatchObject([
      2,
      2,
      { ...former, supersededAt: server.now },
    ]);
    expect(device()).toMatchObject({ push_token_id: tokenId, push_key_id: pushKeys[1]?.pushKeyId });
    expect(pushKeys[1]?.pushKeyId).not.toBe(former?.pushKeyId);
  });

  it('creates a new device if the device is removed while the phone waits', async () => {
    const { server, registrar, clientDevices, device } = await createUpgradedPhone();
    server.relayIsUp = false;
    server.overrides.set('/api/v1/events', () => {
      server.overrides.clear();
      server.relayIsUp = true;
      clientDevices.remove(10, 1);
      return server.answer({ events: [] });
    });
    await expect(registrar.sync()).resolves.toMatchObject({ code: 'active' });
    expect(device().push_token_id).toBe(tokenId);
  });

  it('registers the token again if the server reports the token as dead', async () => {
    const { server, registrar, clientDevices, device } = await createUpgradedPhone();
    await registrar.sync();
    clientDevices.clearToken(10, tokenId);
    expect(device().push_token_id).toBeNull();
    await expect(registrar.sync()).resolves.toMatchObject({ code: 'active' });
    expect(clientDevices.opened).toHaveLength(2);
    expect(server.requestsTo('register_client_device')).toHaveLength(1);
  });

  it('registers key and token again after 30 days, and the registration reaches the relay', async () => {
    const { server, registrar, clientDevices, sent } = await createUpgradedPhone();
    await registrar.sync();
    server.now += 30 * day;
    await expect(registrar.sync()).resolves.toMatchObject({ code: 'active' });
    await registrar.sync();
    expect(sent()).toHaveLength(2);
    expect(clientDevices.opened).toHaveLength(2);
  });

  it('registers a token again after 30 days, once per sync, if the server considers the token unchanged', async () => {
    const { server, registrar, sent } = await withNewToken();
    server.now += 20 * day;
    await registrar.sync();
    server.now += 10 * day;
    for (const requests of [4, 5]) {
      await expect(registrar.sync()).resolves.toMatchObject({ code: 'active' });
      expect(sent()).toHaveLength(requests);
      expect(sent().at(-1)).not.toHaveProperty('push_key');
    }
  });

  it('returns pending while the relay is down, and active in a later call', async () => {
    const { server, clientDevices, registrar, sent } = await createUpgradedPhone();
    server.relayIsUp = false;
    await expect(registrar.sync()).resolves.toMatchObject({ code: 'pending' });
    await expect(registrar.sync({ settleTimeoutMilliseconds: 0 })).resolves.toMatchObject({
      code: 'pending',
    });
    clientDevices.runJobs();
    await expect(registrar.sync()).resolves.toMatchObject({ code: 'active' });
    expect(sent()).toHaveLength(1);
  });

  it('sends a changed token only once no other token is pending', async () => {
    const { server, clientDevices, knobs, registrar, sent, device } = await createUpgradedPhone();
    server.relayIsUp = false;
    await registrar.sync({ settleTimeoutMilliseconds: 0 });
    knobs.token = { tokenKind: 'fcm', token: 'another' };
    await expect(registrar.sync({ settleTimeoutMilliseconds: 0 })).resolves.toMatchObject({
      code: 'pending',
    });
    expect(sent()).toHaveLength(1);
    server.relayIsUp = true;
    clientDevices.runJobs();
    await expect(registrar.sync()).resolves.toMatchObject({ code: 'active' });
    expect(device().push_token_id).toBe(modelTokenId('another'));
  });

  it('replaces a device that has been pending for more than a day, and leaves only one device', async () => {
    const { server, clientDevices, registrar, device } = await createUpgradedPhone();
    server.relayIsUp = false;
    await registrar.sync({ settleTimeoutMilliseconds: 0 });
    clientDevices.jobs = []; // the server gives up without an event
    server.now += day;
    await expect(registrar.sync({ settleTimeoutMilliseconds: 0 })).resolves.toMatchObject({
      code: 'pending',
    });
    expect([...clientDevices.rows.keys()]).toEqual([1]);
    server.now += 1000;
    server.relayIsUp = true;
    await expect(registrar.sync()).resolves.toMatchObject({ code: 'active' });
    expect([...clientDevices.rows.keys()]).toEqual([2]);
    expect(device().push_token_id).toBe(tokenId);
  });

  it('keeps a stuck device whose previous token may still work until the new device is active', async () => {
    const { server, clientDevices, knobs, registrar } = await createUpgradedPhone();
    await registrar.sync();
    server.relayIsUp = false;
    knobs.token = { tokenKind: 'fcm', token: 'another' };
    await registrar.sync({ settleTimeoutMilliseconds: 0 });
    clientDevices.jobs = [];
    server.now += day + 1000;
    await registrar.sync({ settleTimeoutMilliseconds: 0 });
    expect([...clientDevices.rows.keys()]).toEqual([1, 2]);
    server.relayIsUp = true;
    clientDevices.runJobs();
    await expect(registrar.sync()).resolves.toMatchObject({ code: 'active' });
    expect([...clientDevices.rows.keys()]).toEqual([2]);
  });

  it.each([
    ['INVALID_BOUNCER_PUBLIC_KEY', 'update-app', 1],
    ['BAD_REQUEST', 'failed', 2],
    ['REQUEST_EXPIRED', 'failed', 3],
  ])('explains %s, and registers again only while that can help', async (errorCode, code, tries) => {
    const { server, clientDevices, registrar } = await createUpgradedPhone();
    server.verdictOn = () => errorCode;
    await expect(registrar.sync()).resolves.toMatchObject({ code, errorCode });
    await expect(registrar.sync()).resolves.toMatchObject({ code, errorCode });
    expect(clientDevices.opened).toHaveLength(tries);
    server.verdictOn = () => null;
    if (errorCode !== 'INVALID_BOUNCER_PUBLIC_KEY') {
      await expect(registrar.sync({ retryNow: true })).resolves.toMatchObject({ code: 'active' });
    }
  });

  it('repeats a registration that has expired, within the same call', async () => {
    const { server, clientDevices, registrar } = await createUpgradedPhone();
    server.verdictOn = () => (clientDevices.opened.length === 1 ? 'REQUEST_EXPIRED' : null);
    await expect(registrar.sync()).resolves.toMatchObject({ code: 'active' });
    expect(clientDevices.opened).toHaveLength(2);
  });

  it('gives the keys of two accounts different ids, and requests a test for its own device', async () => {
    const draws = [1, 1, 2].map((last) => Uint8Array.of(0, 0, 0, last));
    const { server, client, accounts, registrar } = await createUpgradedPhone({
      random: (length) =>
        length === 4 ? (draws.shift() ?? new Uint8Array(4)) : crypto.getRandomValues(new Uint8Array(length)),
    });
    const { url: realmUrl, apiKey } = server;
    const other = client.registrar({ realmUrl, userId: 11, email: 'ophelia@example.com', apiKey });
    await registrar.sync();
    await other.sync();
    const keys = (await accounts.list()).flatMap(({ device }) => device?.pushKeys ?? []);
    expect(keys.map(({ pushKeyId }) => pushKeyId)).toEqual([1, 2]);
    await other.sendTestNotification();
    const [request] = server.requestsTo('mobile_push/e2ee/test_notification');
    expect(Object.fromEntries(request?.fields ?? [])).toEqual({ device_id: '2' });
  });

  it('adopts the device with the phone’s token after the store was lost, instead of creating a device', async () => {
    const { server, accounts, clientDevices, registrar, device, notify } = await createUpgradedPhone();
    await registrar.sync();
    for (const { pushAccountId } of await accounts.list()) await accounts.remove(pushAccountId);
    await expect(registrar.sync()).resolves.toMatchObject({ code: 'active' });
    expect([...clientDevices.rows.keys()]).toEqual([1]);
    expect(server.requestsTo('register_client_device')).toHaveLength(1);
    expect(device().push_key_id).not.toBeNull();
    expect(await notify(1)).toMatchObject([{ kind: 'notification' }]);
  });

  it('does not adopt another phone’s device to which a restored server assigned the same id', async () => {
    const { server, clientDevices, registrar } = await createUpgradedPhone();
    await registrar.sync();
    const other = {
      ...clientDevices.rows.get(1),
      push_key_id: 7,
      push_token_id: modelTokenId('other phone'),
    };
    clientDevices.rows.set(1, other as never);
    await expect(registrar.sync()).resolves.toMatchObject({ code: 'active' });
    expect(clientDevices.rows.get(1)).toEqual(other);
    expect(clientDevices.rows.get(2)?.push_token_id).toBe(tokenId);
    expect(server.requestsTo('remove_client_device')).toEqual([]);
  });

  it('reports a store that does not keep push keys, and registers nothing', async () => {
    const accounts = createMemoryPushAccountStore();
    const { server, registrar } = await createUpgradedPhone({
      accounts: { ...accounts, put: ({ device: _dropped, ...row }) => accounts.put(row) },
    });
    await expect(registrar.sync()).resolves.toMatchObject({ code: 'no-storage' });
    expect(server.requestsTo('register_client_device')).toEqual([]);
  });
});
