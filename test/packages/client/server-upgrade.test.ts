import { createTextStores, decodePushAccount, encodePushAccount, type PushAccount } from '@waxwing/client';
import { describe, expect, it } from 'vitest';
import type { ModelDevice } from './model-client-devices.js';
import { createPhone } from './phone.js';
import { TextsInMemory } from './texts-in-memory.js';
import { createUpgradedPhone, messageOf } from './upgraded-phone.js';

const day = 86_400_000;
const path = '/api/v1/mobile_push/register';

/** Creates a phone that registered in the older generation with a server that has since been upgraded. */
async function registeredBefore() {
  const phone = await createUpgradedPhone();
  phone.server.featureLevel = 431;
  await phone.registrar.sync();
  phone.server.featureLevel = 500;
  const former = phone.server.lastRegistration.pushAccountId;
  /** Returns the ids of the older generation's registrations that the phone deleted. */
  const deleted = () =>
    phone.server.requests
      .filter((request) => request.method === 'DELETE' && request.path === path)
      .map(({ fields }) => fields.get('push_account_id'));
  return { ...phone, former, deleted };
}

describe('When a server is upgraded', () => {
  it('the phone registers in the newer generation, and only then deletes the previous registration', async () => {
    const { server, registrar, former, deleted, device, row } = await registeredBefore();
    await expect(registrar.sync()).resolves.toMatchObject({ code: 'active' });
    expect(device().push_token_id).not.toBeNull();
    expect(deleted()).toEqual([former]);
    expect([...server.devices]).toEqual([]);
    const { registration, keyPair, device: stored } = await row();
    expect(registration).toBeUndefined();
    expect(keyPair.privateKey).toHaveLength(32);
    expect(stored?.keyPairUnusedSince).toBe(server.now);
    await registrar.sync();
    expect(deleted()).toHaveLength(1);
  });

  it('the phone opens notifications for the old key pair for 30 days, and then destroys the pair', async () => {
    const { server, client, registrar, row } = await registeredBefore();
    const inFlight = [1, 2].map((id) => server.pushTo(messageOf(id, server.url), id));
    await registrar.sync();
    const { keyPair } = await row();
    server.now += 30 * day - 1;
    await registrar.sync();
    await expect(client.open(inFlight[0] ?? '')).resolves.toMatchObject({ kind: 'notification' });
    server.now += 1;
    await registrar.sync();
    await expect(client.open(inFlight[1] ?? '')).resolves.toMatchObject({ reason: 'cannot-open' });
    expect((await row()).keyPair).not.toEqual(keyPair);
    expect(keyPair.privateKey).toEqual(new Uint8Array(32));
  });

  it('a message that arrives in both generations is shown once', async () => {
    const { server, client, registrar, notify } = await registeredBefore();
    const former = server.pushTo(messageOf(7, server.url));
    await registrar.sync();
    expect(await notify(7)).toMatchObject([{ kind: 'notification' }]);
    await expect(client.open(former)).resolves.toMatchObject({ reason: 'repeat' });
  });

  it('the previous registration stays active until the relay has decided on the new registration', async () => {
    const { server, registrar, deleted, clientDevices, row } = await registeredBefore();
    server.relayIsUp = false;
    await expect(registrar.sync()).resolves.toMatchObject({
      code: 'active',
      warning: expect.stringContaining('it still uses the previous registration'),
    });
    expect(deleted()).toEqual([]);
    expect((await row()).registration).toBeDefined();
    await registrar.sendTestNotification();
    expect(server.requestsTo('mobile_push/e2ee/test_notification')[0]?.fields.has('push_account_id')).toBe(
      true,
    );
    clientDevices.runJobs();
    const status = await registrar.sync();
    expect(status).toMatchObject({ code: 'active' });
    expect(status).not.toHaveProperty('warning');
    expect(deleted()).toHaveLength(1);
  });

  it('the previous registration stays active if the relay refuses the new registration', async () => {
    const { server, registrar, deleted } = await registeredBefore();
    server.verdictOn = () => 'BAD_REQUEST';
    await expect(registrar.sync()).resolves.toMatchObject({ code: 'active', errorCode: 'BAD_REQUEST' });
    expect(deleted()).toEqual([]);
  });

  it.each([
    ['that is unreachable', () => Promise.reject(new TypeError('fetch failed'))],
    ['that is busy', undefined],
  ])('the phone retries the deletion on a server %s', async (_, answer) => {
    const { server, registrar, deleted } = await registeredBefore();
    const isDelete = () => server.requests.at(-1)?.method === 'DELETE';
    const refuse = () => answer?.() ?? server.error('RATE_LIMIT_HIT', 429);
    server.overrides.set(path, () => (isDelete() ? refuse() : undefined));
    await expect(registrar.sync()).resolves.toMatchObject({ code: 'active' });
    expect(deleted()).toHaveLength(1);
    expect(server.devices.size).toBe(1);
    server.overrides.clear();
    await expect(registrar.sync()).resolves.toMatchObject({ code: 'active' });
    expect(deleted()).toHaveLength(2);
    expect(server.devices.size).toBe(0);
  });

  it('a server that no longer knows the registration is not asked to delete it', async () => {
    const { server, registrar, deleted, row } = await registeredBefore();
    server.devices.clear();
    await registrar.sync();
    expect(deleted()).toEqual([]);
    expect((await row()).registration).toBeUndefined();
  });
});

describe('When a server is downgraded', () => {
  const downgradedPhone = async () => {
    const phone = await createUpgradedPhone();
    const { server, registrar, row, clientDevices } = phone;
    await registrar.sync();
    const [{ key, pushKeyId } = { key: new Uint8Array(), pushKeyId: 0 }] =
      (await row()).device?.pushKeys ?? [];
    /** Returns a push that the server has encrypted with the only push key. */
    const pushTo = (messageId: number, to: ModelDevice) =>
      clientDevices.sealFor(
        to,
        JSON.stringify(messageOf(messageId, server.url)),
        new Uint8Array(24).fill(messageId),
      );
    const inFlight = [11, 12].map((id) => pushTo(id, phone.device()));
    server.featureLevel = 431;
    await expect(registrar.sync()).resolves.toMatchObject({ code: 'active' });
    return { ...phone, inFlight, key, pushKeyId };
  };

  it('the phone registers in the older generation again', async () => {
    const { server, registrar, row, pushKeyId } = await downgradedPhone();
    expect(server.devices.size).toBe(1);
    const device = { deviceId: 1, pushKeys: [{ pushKeyId, supersededAt: server.now }] };
    expect((await row()).device).toMatchObject(device);
    expect((await row()).device).not.toHaveProperty('sent');
    await registrar.sendTestNotification();
    expect(server.requestsTo('mobile_push/e2ee/test_notification')[0]?.fields.has('push_account_id')).toBe(
      true,
    );
  });

  it('the phone opens notifications for its push keys for 30 days, and then destroys the keys', async () => {
    const { server, client, registrar, row, inFlight, key } = await downgradedPhone();
    server.now += 30 * day - 1;
    await registrar.sync();
    await expect(client.open(inFlight[0] ?? '')).resolves.toMatchObject({ kind: 'notification' });
    server.now += 1;
    await registrar.sync();
    await expect(client.open(inFlight[1] ?? '')).resolves.toMatchObject({ reason: 'unknown-account' });
    expect((await row()).device).toEqual({ deviceId: 1, pushKeys: [] });
    expect(key).toEqual(new Uint8Array(32));
  });

  it('the phone opens notifications for its push keys even after the account was replaced', async () => {
    const { server, client, registrar, inFlight } = await downgradedPhone();
    server.verdictOn = () => (server.registrations.length < 4 ? 'REQUEST_EXPIRED' : null);
    server.devices.clear();
    await expect(registrar.sync()).resolves.toMatchObject({ code: 'active' });
    expect(new Set(server.registrations.map(({ pushAccountId }) => pushAccountId)).size).toBe(2);
    await expect(client.open(inFlight[0] ?? '')).resolves.toMatchObject({ kind: 'notification' });
  });

  it('the phone keeps its device and key if only one response in the middle of an upgrade is older', async () => {
    const { server, client, registrar, clientDevices, device, notify, inFlight, pushKeyId } =
      await downgradedPhone();
    server.featureLevel = 500;
    await expect(registrar.sync()).resolves.toMatchObject({ code: 'active' });
    expect([...clientDevices.rows.keys()]).toEqual([1]);
    expect(device().push_key_id).toBe(pushKeyId);
    expect(server.devices.size).toBe(0);
    for (const push of inFlight) expect(await client.open(push)).toMatchObject({ kind: 'notification' });
    expect(await notify(3)).toMatchObject([{ kind: 'notification' }]);
    // A key in use is kept after 30 days. It is destroyed once a new key has replaced it.
    server.now += 31 * day;
    const last = clientDevices.sealFor(
      device(),
      JSON.stringify(messageOf(13, server.url)),
      new Uint8Array(24),
    );
    await registrar.sync();
    expect(device().push_key_id).not.toBe(pushKeyId);
    expect(await client.open(last)).toMatchObject({ kind: 'notification' });
  });

  it.each([431, 500])(
    'a response without a feature level does not move accounts: level %d',
    async (level) => {
      const { server, registrar, row } = await createUpgradedPhone();
      server.featureLevel = level;
      await registrar.sync();
      const before = await row();
      server.tellsFeatureLevel = false;
      await expect(registrar.sync()).resolves.toMatchObject({ code: 'active' });
      expect(await row()).toEqual(before);
      expect(server.requestsTo('mobile_push/register')).toHaveLength(1);
    },
  );

  it('the phone registers with a new id if its former key pair was destroyed', async () => {
    const { server, registrar, row, former } = await registeredBefore();
    const restored = new Map(server.devices);
    await registrar.sync();
    server.now += 30 * day;
    await registrar.sync();
    server.featureLevel = 431;
    for (const [id, state] of restored) server.devices.set(id, state);
    await expect(registrar.sync()).resolves.toMatchObject({ code: 'active' });
    const { pushAccountId } = await row();
    expect(String(pushAccountId)).not.toBe(former);
    expect(server.lastRegistration.pushAccountId).toBe(String(pushAccountId));
  });
});

describe('The account store', () => {
  it('is compatible with app versions without the newer generation, in both directions', async () => {
    const storage = new TextsInMemory();
    const { accounts, seen } = createTextStores(storage);
    const { server, registrar } = await createPhone({ accounts, seen });
    await registrar.sync();
    const before = storage.texts.get('waxwing.accounts') ?? '';
    expect(before).not.toContain('device');
    server.featureLevel = 500;
    await registrar.sync();
    const after = JSON.parse(storage.texts.get('waxwing.accounts') ?? '') as Record<string, unknown>;
    // The fields that older versions require are still present.
    expect(Object.keys(after)).toEqual(
      expect.arrayContaining(['pushAccountId', 'realmUrl', 'userId', 'publicKey', 'privateKey']),
    );
    storage.texts.set('waxwing.accounts', before);
    await expect(registrar.sync()).resolves.toMatchObject({ code: 'active' });
    expect([...server.clientDevices.rows.keys()]).toEqual([1]);
  });

  it('round-trips a device in each of its states', () => {
    const base: PushAccount = {
      pushAccountId: 5n as never,
      realmUrl: 'https://chat.example.com',
      userId: 10,
      keyPair: { publicKey: new Uint8Array(32).fill(1), privateKey: new Uint8Array(32).fill(2) },
    };
    const pushKey = { pushKeyId: 4_294_967_295 as never, key: new Uint8Array(32).fill(3), createdAt: 1 };
    const sent = {
      pushToken: { tokenKind: 'fcm', token: 't' },
      bouncerPublicKey: 'k',
      timestamp: 1,
    } as const;
    for (const device of [
      { pushKeys: [] },
      { pushKeys: [pushKey, { ...pushKey, supersededAt: 2 }], deviceId: 0 as never },
      { pushKeys: [pushKey], sent, keyPairUnusedSince: 3 },
    ]) {
      expect(decodePushAccount(encodePushAccount({ ...base, device }))).toEqual({ ...base, device });
    }
    const text = encodePushAccount({ ...base, device: { pushKeys: [pushKey], sent, deviceId: 1 as never } });
    for (const [from, to] of [
      ['"pushKeys":[', '"pushKeys":[1,'],
      ['"pushKeyId":4294967295', '"pushKeyId":4294967296'],
      ['"key":"M', '"key":"N'],
      ['"createdAt":1', '"createdAt":"1"'],
      ['"deviceId":1', '"deviceId":-1'],
      ['"timestamp":1', '"timestamp":"1"'],
    ] as const) {
      expect(text).toContain(from);
      expect(() => decodePushAccount(text.replace(from, to))).toThrow(SyntaxError);
    }
  });
});
