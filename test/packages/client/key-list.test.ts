import { createMemoryKeyListStore } from '@waxwing/client';
import { describe, expect, it } from 'vitest';
import fc from '../../support/fast-check.js';
import { builtIn, createFollowingPhone, day, relaySigner, second, third } from './following-phone.js';
import { bouncerKey } from './key-list-maker.js';
import { createPhone } from './phone.js';

describe('A phone that follows key lists', () => {
  it('seals to the primary key of the list', async () => {
    const { publish, registrar, sealedTo } = await createFollowingPhone();
    publish();
    const status = await registrar.sync();
    expect(status).toMatchObject({ code: 'active', keySource: 'key-list' });
    expect(status.warning).toBeUndefined();
    expect(sealedTo()).toEqual([second]);
  });

  it('sends three requests in a sync that registers nothing, as docs/client.md states', async () => {
    const { server, registrar, publish } = await createFollowingPhone();
    publish();
    await registrar.sync();
    const before = server.requests.length;
    await expect(registrar.sync()).resolves.toMatchObject({ code: 'active' });
    expect(server.requests.slice(before).map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /api/v1/register',
      'GET /api/v1/mobile_push/bouncer_keys',
      'DELETE /api/v1/events',
    ]);
  });

  it('re-registers in the next sync after a key rotation', async () => {
    const { publish, registrar, server, sealedTo } = await createFollowingPhone();
    publish();
    await registrar.sync();
    server.now += 1000;
    publish({ primary: third, accepted: [second, builtIn] });
    await expect(registrar.sync()).resolves.toMatchObject({ code: 'active', keySource: 'key-list' });
    await registrar.sync();
    expect(sealedTo()).toEqual([second, third]);
  });

  it('keeps the last good list while no list can be fetched, and reports the failure', async () => {
    const { publish, forgetList, registrar, server, knobs, sealedTo } = await createFollowingPhone();
    publish();
    await registrar.sync();
    forgetList();
    server.now += 29 * day * 1000;
    knobs.token = { tokenKind: 'fcm', token: 'new' };
    await expect(registrar.sync()).resolves.toMatchObject({
      code: 'active',
      keySource: 'last-good-list',
      warning: expect.stringContaining('cannot be fetched'),
    });
    expect(sealedTo()).toEqual([second, second]);
  });

  it('falls back to the key in the app once the last good list has expired, and reports the fallback', async () => {
    const { publish, forgetList, registrar, server, sealedTo } = await createFollowingPhone();
    publish();
    await registrar.sync();
    forgetList();
    server.now += 30 * day * 1000;
    await expect(registrar.sync()).resolves.toMatchObject({
      code: 'active',
      keySource: 'built-in',
      warning: expect.stringContaining('The key in the app is in use.'),
    });
    expect(sealedTo()).toEqual([second, builtIn]);
  });

  it('keeps a working registration whose key is from an expired list', async () => {
    const { publish, forgetList, registrar, server, now, sealedTo } = await createFollowingPhone();
    publish({ expiresAt: now() + day });
    await registrar.sync();
    forgetList();
    server.now += 2 * day * 1000;
    await expect(registrar.sync()).resolves.toMatchObject({ code: 'active', keySource: 'built-in' });
    expect(sealedTo()).toEqual([second]);
  });

  it('keeps the newest list if two accounts fetch different lists concurrently', async () => {
    const { publish, client, server, store } = await createFollowingPhone();
    publish();
    const old = server.keyList;
    server.now += 1000;
    publish({ primary: third });
    const newest = server.keyList;
    const lists = [newest, old];
    server.overrides.set('/api/v1/mobile_push/bouncer_keys', () => server.answer(lists.shift() ?? {}));
    const { url: realmUrl, users, apiKey } = server;
    const registrars = [...users].map(([email, userId]) =>
      client.registrar({ realmUrl, userId, email, apiKey }),
    );
    await Promise.all(registrars.map((registrar) => registrar.sync()));
    expect(await store.get()).toMatchObject({ primaryPublicKey: third });
  });

  it('uses the key in the app if the server forwards no list', async () => {
    const { registrar, sealedTo } = await createFollowingPhone();
    await expect(registrar.sync()).resolves.toMatchObject({ code: 'active', keySource: 'built-in' });
    expect(sealedTo()).toEqual([builtIn]);
  });

  it.each([
    ['dropped', { accepted: [] }],
    ['revoked', { accepted: [], revoked: [builtIn] }],
    ['both revoked and listed', { revoked: [builtIn] }],
  ])('never falls back to the key in the app after a list has %s this key', async (_, plan) => {
    const { publish, forgetList, registrar, server, sealedTo } = await createFollowingPhone();
    publish(plan);
    await registrar.sync();
    forgetList();
    server.now += 31 * day * 1000;
    await expect(registrar.sync()).resolves.toMatchObject({ code: 'no-usable-key' });
    expect(sealedTo()).toEqual([second]);
  });

  it('uses the new key in the app after an update, although the last list does not contain this key', async () => {
    const { publish, forgetList, registrar, server, accounts, store } = await createFollowingPhone();
    publish({ accepted: [] });
    await registrar.sync();
    const keyList = { signingPublicKey: relaySigner.publicKey, store };
    const updated = await createPhone({ keyList, accounts, bouncerPublicKey: third });
    updated.server.addBouncerKey(3);
    updated.server.now = server.now + 31 * day * 1000;
    forgetList();
    await expect(updated.registrar.sync()).resolves.toMatchObject({ code: 'active', keySource: 'built-in' });
    expect(updated.server.lastRegistration.bouncerPublicKey).toBe(third);
  });

  it('keeps a working registration while no key is usable for a new registration', async () => {
    const { publish, forgetList, registrar, server, now } = await createFollowingPhone();
    publish({ accepted: [], expiresAt: now() + day });
    await registrar.sync();
    forgetList();
    server.now += 2 * day * 1000;
    const status = await registrar.sync();
    expect(status).toMatchObject({
      code: 'active',
      warning: expect.stringContaining('no longer accepted'),
    });
    expect(status.keySource).toBeUndefined();
  });

  it('remembers the list across a restart of the app', async () => {
    const first = await createFollowingPhone();
    first.publish();
    await first.registrar.sync();
    const restarted = await createFollowingPhone({ store: first.store });
    await expect(restarted.registrar.sync()).resolves.toMatchObject({ keySource: 'last-good-list' });
    expect(restarted.sealedTo()).toEqual([second]);
  });

  it('stores only plain data, which round-trips through JSON', async () => {
    const { publish, registrar, store } = await createFollowingPhone();
    publish({ revoked: [third] });
    await registrar.sync();
    const state = await store.get();
    expect(JSON.parse(JSON.stringify(state))).toEqual(state);
  });
});

describe('A refused key', () => {
  it('makes the phone refetch the list and re-register in the same sync', async () => {
    const { publish, registrar, server, sealedTo } = await createFollowingPhone();
    publish({ primary: builtIn, accepted: [] });
    const { verdictOn } = server;
    server.verdictOn = (opened) => {
      server.bouncerKeys.delete(builtIn);
      server.now += 1000;
      publish({ primary: third, accepted: [] });
      return verdictOn.call(server, opened);
    };
    await expect(registrar.sync()).resolves.toMatchObject({ code: 'active', keySource: 'key-list' });
    expect(sealedTo()).toEqual([builtIn, third]);
  });

  it('is retried once per list, however often the app calls sync', async () => {
    const { publish, registrar, server, sealedTo } = await createFollowingPhone();
    publish();
    server.verdictOn = () => 'INVALID_BOUNCER_PUBLIC_KEY';
    await expect(registrar.sync()).resolves.toMatchObject({ code: 'update-app' });
    for (let calls = 0; calls < 3; calls += 1) await registrar.sync();
    expect(sealedTo()).toEqual([second, second]);
    server.now += 1000;
    publish();
    for (let calls = 0; calls < 3; calls += 1) await registrar.sync();
    expect(sealedTo()).toEqual([second, second, second]);
  });

  it('is not retried with the same list after a token change', async () => {
    const { publish, registrar, server, knobs, sealedTo } = await createFollowingPhone();
    publish();
    server.verdictOn = () => 'INVALID_BOUNCER_PUBLIC_KEY';
    await registrar.sync();
    expect(sealedTo()).toHaveLength(2);
    knobs.token = { tokenKind: 'fcm', token: 'changed' };
    await registrar.sync();
    expect(sealedTo()).toHaveLength(3);
  });

  it('is not retried while no list can be fetched', async () => {
    const { publish, forgetList, registrar, server, sealedTo } = await createFollowingPhone();
    publish();
    server.verdictOn = () => {
      forgetList();
      return 'INVALID_BOUNCER_PUBLIC_KEY';
    };
    await registrar.sync();
    await registrar.sync();
    expect(sealedTo()).toEqual([second]);
  });
});

describe('The keys that are built into an app', () => {
  it.each([
    [{ bouncerPublicKey: 'no' }, 'bouncerPublicKey'],
    [
      { keyList: { signingPublicKey: 'AAAA', store: createMemoryKeyListStore() } },
      'keyList.signingPublicKey',
    ],
    [
      {
        keyList: {
          signingPublicKey: relaySigner.publicKey,
          recoveryPublicKey: '',
          store: createMemoryKeyListStore(),
        },
      },
      'keyList.recoveryPublicKey',
    ],
  ])('are rejected immediately if they are invalid: %j', async (options, name) => {
    await expect(createPhone(options)).rejects.toThrow(`${name} must be base64 of 32 bytes`);
  });
});

describe('For any key lists from a relay, and any time that the phone is offline', () => {
  it('no registration is sealed to a key that a verified list has revoked or dropped', async () => {
    const keyBytes = fc.integer({ min: 1, max: 5 });
    const step = fc.record({
      primary: keyBytes,
      accepted: fc.uniqueArray(keyBytes, { maxLength: 3 }),
      revoked: fc.uniqueArray(keyBytes, { maxLength: 1 }),
      reachable: fc.boolean(),
      days: fc.integer({ min: 0, max: 40 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
        const { publish, forgetList, registrar, server, knobs } = await createFollowingPhone();
        for (const byte of [4, 5]) server.addBouncerKey(byte);
        const refused = new Set<string>();
        let listed = new Set<string>();
        for (const { primary, accepted, revoked, reachable, days } of steps) {
          server.now += days * day * 1000 + 1000;
          const others = accepted.filter((byte) => byte !== primary);
          if (reachable) {
            const keys = [primary, ...others].map(bouncerKey);
            publish({
              primary: bouncerKey(primary),
              accepted: others.map(bouncerKey),
              revoked: revoked.map(bouncerKey),
            });
            for (const key of listed) if (!keys.includes(key)) refused.add(key);
            for (const byte of revoked) refused.add(bouncerKey(byte));
            listed = new Set(keys);
          } else forgetList();
          knobs.token = { tokenKind: 'fcm', token: `token-${server.now}` };
          const before = server.registrations.length;
          const status = await registrar.sync();
          const sent = server.registrations.slice(before).map(({ bouncerPublicKey }) => bouncerPublicKey);
          expect(sent.filter((key) => refused.has(key))).toEqual([]);
          expect(sent.length > 0).toBe(status.code === 'active');
        }
      }),
      { numRuns: 100 },
    );
  }, 120_000);
});
