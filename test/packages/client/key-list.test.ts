import { createMemoryKeyListStore } from '@waxwing/client';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toBase64 } from './fake-chat-server.js';
import {
  bouncerKey,
  documentOf,
  endorse,
  inDomain,
  type KeyListPlan,
  keyListAnswer,
  signer,
} from './key-list-maker.js';
import { createPhone } from './phone.js';

const day = 86_400;
const relaySigner = signer(100);
const nextSigner = signer(101);
const thief = signer(66);
const recovery = signer(99);
const [builtIn, second, third, thiefKey] = [1, 2, 3, 66].map(bouncerKey) as [string, string, string, string];

/** A phone that follows key lists; its relay holds the keys 1 to 3, and the thief's to see what is sealed to it. */
async function createFollowingPhone({ withRecovery = false, store = createMemoryKeyListStore() } = {}) {
  const keyList = {
    signingPublicKey: relaySigner.publicKey,
    store,
    ...(withRecovery ? { recoveryPublicKey: recovery.publicKey } : {}),
  };
  const phone = await createPhone({ keyList });
  for (const byte of [2, 3, 66]) phone.server.addBouncerKey(byte);
  const now = () => Math.floor(phone.server.now / 1000);
  /** Lets the server pass on a list, issued now unless the plan says otherwise. */
  const publish = (
    plan: Partial<KeyListPlan> = {},
    change?: (document: Record<string, unknown>) => unknown,
  ) => {
    const whole = { issuedAt: now(), primary: second, accepted: [builtIn], signer: relaySigner, ...plan };
    phone.server.keyList = keyListAnswer(whole, change?.(documentOf(whole)));
  };
  const forgetList = () => {
    phone.server.keyList = undefined;
  };
  const sealedTo = () => phone.server.registrations.map(({ bouncerPublicKey }) => bouncerPublicKey);
  return { ...phone, store, now, publish, forgetList, sealedTo };
}

describe('A phone that follows key lists', () => {
  it('seals to the primary key of the list', async () => {
    const { publish, registrar, sealedTo } = await createFollowingPhone();
    publish();
    const status = await registrar.sync();
    expect(status).toMatchObject({ code: 'active', keySource: 'key-list' });
    expect(status.warning).toBeUndefined();
    expect(sealedTo()).toEqual([second]);
  });

  it('registers again at the next sync after the key was rotated', async () => {
    const { publish, registrar, server, sealedTo } = await createFollowingPhone();
    publish();
    await registrar.sync();
    server.now += 1000;
    publish({ primary: third, accepted: [second, builtIn] });
    await expect(registrar.sync()).resolves.toMatchObject({ code: 'active', keySource: 'key-list' });
    await registrar.sync();
    expect(sealedTo()).toEqual([second, third]);
  });

  it('keeps to the last good list while none can be fetched, and says so', async () => {
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

  it('goes back to the key in the app once the last good list has expired, and says so', async () => {
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

  it('uses the key in the app when the server passes on no list at all', async () => {
    const { registrar, sealedTo } = await createFollowingPhone();
    await expect(registrar.sync()).resolves.toMatchObject({ code: 'active', keySource: 'built-in' });
    expect(sealedTo()).toEqual([builtIn]);
  });

  it.each([
    ['dropped', { accepted: [] }],
    ['revoked', { accepted: [], revoked: [builtIn] }],
    ['revoked, though it is listed', { revoked: [builtIn] }],
  ])('never goes back to the key in the app when a list has %s it', async (_, plan) => {
    const { publish, forgetList, registrar, server, sealedTo } = await createFollowingPhone();
    publish(plan);
    await registrar.sync();
    forgetList();
    server.now += 31 * day * 1000;
    await expect(registrar.sync()).resolves.toMatchObject({ code: 'no-usable-key' });
    expect(sealedTo()).toEqual([second]);
  });

  it('uses the new key in the app after an update, though the last list does not have it', async () => {
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

  it('stays with a working registration when no key could be used for a new one', async () => {
    const { publish, forgetList, registrar, server, now } = await createFollowingPhone();
    publish({ accepted: [], expiresAt: now() + day });
    await registrar.sync();
    forgetList();
    server.now += 2 * day * 1000;
    const status = await registrar.sync();
    expect(status).toMatchObject({
      code: 'active',
      warning: expect.stringContaining('not accepted any more'),
    });
    expect(status.keySource).toBeUndefined();
  });

  it('remembers the list over a restart of the app', async () => {
    const first = await createFollowingPhone();
    first.publish();
    await first.registrar.sync();
    const restarted = await createFollowingPhone({ store: first.store });
    await expect(restarted.registrar.sync()).resolves.toMatchObject({ keySource: 'last-good-list' });
    expect(restarted.sealedTo()).toEqual([second]);
  });

  it('keeps plain data alone, so that JSON keeps it whole', async () => {
    const { publish, registrar, store } = await createFollowingPhone();
    publish({ revoked: [third] });
    await registrar.sync();
    const state = await store.get();
    expect(JSON.parse(JSON.stringify(state))).toEqual(state);
  });
});

describe('A refused key', () => {
  it('makes the phone fetch the list afresh and register again by itself, in the same sync', async () => {
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

  it('is tried once more for each list, however often the app asks', async () => {
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

  it('is not tried again as long as no list can be fetched', async () => {
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

describe('An attack on the key list fails', () => {
  /** Attempts that a phone which has followed one good list must refuse. Each tries to have the thief's key used. */
  const attacks: readonly [
    string,
    string,
    Partial<KeyListPlan>,
    ((d: Record<string, unknown>) => unknown)?,
  ][] = [
    ['signed by another key', 'signed by a key that nothing leads to', { signer: thief }],
    [
      'with the thief’s key endorsed by the thief',
      'signed by a key that nothing leads to',
      {
        signer: thief,
        chain: [
          { public_key: relaySigner.publicKey, endorsement: null },
          { public_key: thief.publicKey, endorsement: endorse(thief, thief) },
        ],
      },
    ],
    [
      'with an endorsement of another key',
      'signed by a key that nothing leads to',
      {
        signer: thief,
        chain: [
          { public_key: relaySigner.publicKey, endorsement: null },
          { public_key: thief.publicKey, endorsement: endorse(relaySigner, nextSigner) },
        ],
      },
    ],
    [
      'with the chain in another order',
      'not a key list',
      {
        signer: thief,
        chain: [
          { public_key: thief.publicKey, endorsement: null },
          { public_key: relaySigner.publicKey, endorsement: null },
        ],
      },
    ],
    ['that has expired', 'it has expired', { issuedAt: 0, expiresAt: 1 }],
    ['with a sequence that goes back', 'older than one that was seen before', { sequence: 1 }],
    ['with a sequence far ahead of its date', 'too far ahead', { sequence: Number.MAX_SAFE_INTEGER }],
    ['with two primary keys', 'not a key list', {}, twoPrimaries],
    ['with no primary key', 'not a key list', {}, (document) => ({ ...document, keys: [] })],
    ['of another version', 'not a key list', {}, (document) => ({ ...document, version: 2 })],
    ['without signing keys', 'not a key list', {}, (document) => ({ ...document, signing_keys: [] })],
  ];

  function twoPrimaries(document: Record<string, unknown>): unknown {
    const [primary] = document.keys as unknown[];
    return { ...document, keys: [primary, primary] };
  }

  it.each(attacks)('when it is a list %s', async (_, reason, plan, change) => {
    const { publish, registrar, server, knobs, sealedTo } = await createFollowingPhone({
      withRecovery: true,
    });
    publish();
    await registrar.sync();
    server.now += 1000;
    publish({ primary: thiefKey, ...plan }, change);
    knobs.token = { tokenKind: 'fcm', token: 'changed' };
    await expect(registrar.sync()).resolves.toMatchObject({
      code: 'active',
      keySource: 'last-good-list',
      warning: expect.stringContaining(reason),
    });
    expect(sealedTo()).toEqual([second, second]);
  });

  it('when a key is added to a good list', async () => {
    const { publish, registrar, server, sealedTo } = await createFollowingPhone();
    publish();
    const document = JSON.parse(atob(String(server.keyList?.key_list)));
    document.keys[0].public_key = thiefKey;
    const text = new TextEncoder().encode(JSON.stringify(document));
    server.keyList = { ...server.keyList, key_list: toBase64(text) };
    await expect(registrar.sync()).resolves.toMatchObject({
      keySource: 'built-in',
      warning: expect.stringContaining('its signature is wrong'),
    });
    expect(sealedTo()).toEqual([builtIn]);
  });

  it.each([
    ['that of an endorsement', 'waxwing signing key v1'],
    ['none', ''],
    ['a later one', 'waxwing key list v2'],
  ])('when the signature is from another domain: %s', async (_, domain) => {
    const { publish, registrar, server, sealedTo } = await createFollowingPhone();
    publish({ primary: thiefKey });
    const text = atob(String(server.keyList?.key_list));
    server.keyList = { ...server.keyList, signature: relaySigner.sign(inDomain(domain, text)) };
    await expect(registrar.sync()).resolves.toMatchObject({
      warning: expect.stringContaining('its signature is wrong'),
    });
    expect(sealedTo()).toEqual([builtIn]);
  });

  it('when the signature of a list is passed off as an endorsement', async () => {
    const { publish, registrar, sealedTo } = await createFollowingPhone();
    const bytes = Uint8Array.from(atob(thief.publicKey), (character) => character.charCodeAt(0));
    publish({
      primary: thiefKey,
      signer: thief,
      chain: [
        { public_key: relaySigner.publicKey, endorsement: null },
        {
          public_key: thief.publicKey,
          endorsement: relaySigner.sign(inDomain('waxwing key list v1', bytes)),
        },
      ],
    });
    await registrar.sync();
    expect(sealedTo()).toEqual([builtIn]);
  });

  it('when an old list is replayed to bring back a revoked key', async () => {
    const { publish, registrar, server, knobs, sealedTo } = await createFollowingPhone();
    publish({ primary: thiefKey });
    const old = server.keyList;
    server.now += 1000;
    publish({ primary: third, revoked: [thiefKey] });
    await registrar.sync();
    server.keyList = old;
    knobs.token = { tokenKind: 'fcm', token: 'changed' };
    await expect(registrar.sync()).resolves.toMatchObject({ keySource: 'last-good-list' });
    expect(sealedTo()).toEqual([third, third]);
  });

  it('when a new list, rightly signed, brings back a key that was revoked or dropped', async () => {
    for (const revoked of [[thiefKey], []]) {
      const { publish, registrar, server, knobs, sealedTo } = await createFollowingPhone();
      publish({ primary: second, accepted: [thiefKey, builtIn] });
      await registrar.sync();
      server.now += 1000;
      publish({ revoked });
      await registrar.sync();
      server.now += 1000;
      publish({ primary: thiefKey });
      knobs.token = { tokenKind: 'fcm', token: 'changed' };
      await registrar.sync();
      expect(sealedTo()).toEqual([second, builtIn]);
    }
  });

  it('when the server turns back its clock to keep an expired list alive', async () => {
    const { publish, registrar, server, sealedTo } = await createFollowingPhone();
    publish({ primary: thiefKey });
    server.now += 60 * day * 1000;
    server.claimedLateness = -60 * day * 1000;
    await expect(registrar.sync()).resolves.toMatchObject({
      warning: expect.stringContaining('it has expired'),
    });
    expect(new Set(sealedTo())).toEqual(new Set([builtIn]));
  });

  it('when a list from the future would shut out every later one, though the server claims that it is time', async () => {
    const { publish, registrar, server, now, sealedTo } = await createFollowingPhone();
    server.claimedLateness = 365 * day * 1000;
    publish({ primary: thiefKey, issuedAt: now() + 365 * day });
    await expect(registrar.sync()).resolves.toMatchObject({
      warning: expect.stringContaining('issued in the future'),
    });
    expect(new Set(sealedTo())).toEqual(new Set([builtIn]));
  });

  it.each([
    [-6, 'key-list'],
    [-8, 'built-in'],
    [29, 'key-list'],
    [31, 'built-in'],
  ])('with a clock that is %d days off the phone uses the %s', async (days, keySource) => {
    const { publish, registrar, knobs } = await createFollowingPhone();
    knobs.clockErrorMilliseconds = days * day * 1000;
    publish();
    await expect(registrar.sync()).resolves.toMatchObject({ code: 'active', keySource });
  });

  it('whatever the server passes off as a list', async () => {
    await fc.assert(
      fc.asyncProperty(fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue(), async (fields, list) => {
        const { registrar, server, now, sealedTo } = await createFollowingPhone();
        const keyList = toBase64(new TextEncoder().encode(JSON.stringify(list)));
        const good = keyListAnswer({ issuedAt: now(), primary: thiefKey, signer: relaySigner });
        server.keyList = { ...good, key_list: keyList, ...fields };
        await expect(registrar.sync()).resolves.toMatchObject({ keySource: 'built-in' });
        expect(sealedTo()).toEqual([builtIn]);
      }),
      { numRuns: 50 },
    );
  });
});

describe('A signing key', () => {
  const rotated = [
    { public_key: relaySigner.publicKey, endorsement: null },
    { public_key: nextSigner.publicKey, endorsement: endorse(relaySigner, nextSigner) },
  ];
  const recovered = [{ public_key: nextSigner.publicKey, endorsement: endorse(recovery, nextSigner) }];

  it('is followed along the chain, also over several steps at once', async () => {
    const { publish, registrar, sealedTo } = await createFollowingPhone();
    const last = signer(102);
    publish({
      signer: last,
      chain: [...rotated, { public_key: last.publicKey, endorsement: endorse(nextSigner, last) }],
    });
    await expect(registrar.sync()).resolves.toMatchObject({ keySource: 'key-list' });
    expect(sealedTo()).toEqual([second]);
  });

  it('signs nothing any more once it was replaced', async () => {
    const { publish, registrar, server, sealedTo } = await createFollowingPhone();
    publish({ signer: nextSigner, chain: rotated });
    await registrar.sync();
    server.now += 1000;
    publish({ primary: thiefKey, signer: relaySigner });
    await expect(registrar.sync()).resolves.toMatchObject({ keySource: 'last-good-list' });
    expect(sealedTo()).toEqual([second]);
  });

  it('comes back after a theft through the recovery key, and the stolen one is out for good', async () => {
    const { publish, registrar, server, sealedTo } = await createFollowingPhone({ withRecovery: true });
    publish();
    await registrar.sync();
    server.now += 1000;
    publish({ primary: third, signer: nextSigner, chain: recovered, revoked: [relaySigner.publicKey] });
    await expect(registrar.sync()).resolves.toMatchObject({ keySource: 'key-list' });
    server.now += 1000;
    publish({ primary: thiefKey, signer: relaySigner });
    await registrar.sync();
    expect(sealedTo()).toEqual([second, third]);
  });

  it('that the recovery key once endorsed does not come back either after it was replaced', async () => {
    const { publish, registrar, server, sealedTo } = await createFollowingPhone({ withRecovery: true });
    publish({ signer: nextSigner, chain: recovered });
    await registrar.sync();
    const last = signer(102);
    server.now += 1000;
    const [first] = recovered;
    publish({
      signer: last,
      chain: [first as never, { public_key: last.publicKey, endorsement: endorse(nextSigner, last) }],
    });
    await expect(registrar.sync()).resolves.toMatchObject({ keySource: 'key-list' });
    server.now += 1000;
    publish({ primary: thiefKey, signer: nextSigner, chain: recovered });
    await expect(registrar.sync()).resolves.toMatchObject({ keySource: 'last-good-list' });
    expect(sealedTo()).toEqual([second]);
  });

  it('is not taken from a recovery key that the app does not pin', async () => {
    const { publish, registrar } = await createFollowingPhone();
    publish({ signer: nextSigner, chain: recovered });
    await expect(registrar.sync()).resolves.toMatchObject({ keySource: 'built-in' });
  });

  it('of an updated app counts, unless the phone is past it already', async () => {
    const first = await createFollowingPhone();
    first.publish({ signer: nextSigner, chain: rotated });
    await first.registrar.sync();
    const { store } = first;
    async function updatedTo(signingPublicKey: string, by: Partial<KeyListPlan>) {
      const phone = await createPhone({ keyList: { signingPublicKey, store } });
      phone.server.addBouncerKey(2);
      phone.server.now = first.server.now + 1000;
      const issuedAt = Math.floor(phone.server.now / 1000);
      phone.server.keyList = keyListAnswer({ issuedAt, primary: second, signer: nextSigner, ...by });
      return phone.registrar.sync();
    }
    const unrelated = signer(103);
    await expect(updatedTo(relaySigner.publicKey, { chain: rotated })).resolves.toMatchObject({
      keySource: 'key-list',
    });
    await expect(updatedTo(unrelated.publicKey, { signer: unrelated })).resolves.toMatchObject({
      keySource: 'key-list',
    });
  });
});

describe('The keys that an app is built with', () => {
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
  ])('are refused at once when they are none: %j', async (options, name) => {
    await expect(createPhone(options)).rejects.toThrow(`${name} must be base64 of 32 bytes`);
  });
});

describe('Whatever lists a relay publishes, and however long the phone is away', () => {
  it('nothing is sealed to a key that a verified list has revoked or dropped', async () => {
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
          knobs.token = { tokenKind: 'fcm', token: `token ${server.now}` };
          const before = server.registrations.length;
          const status = await registrar.sync();
          const sent = server.registrations.slice(before).map(({ bouncerPublicKey }) => bouncerPublicKey);
          expect(sent.filter((key) => refused.has(key))).toEqual([]);
          expect(sent.length > 0).toBe(status.code === 'active');
        }
      }),
      { numRuns: 100 },
    );
  });
});
