import { describe, expect, it } from 'vitest';
import fc from '../../support/fast-check.js';
import { toBase64 } from './fake-chat-server.js';
import {
  builtIn,
  createFollowingPhone,
  day,
  nextSigner,
  relaySigner,
  second,
  thief,
  thiefKey,
  third,
} from './following-phone.js';
import { endorse, inDomain, type KeyListPlan, keyListAnswer } from './key-list-maker.js';

describe('An attack on the key list fails', () => {
  /**
   * Lists that a phone must reject after it has followed a good list. Each list tries to make the phone use the thief's
   * key.
   */
  const attacks: readonly [
    string,
    string,
    Partial<KeyListPlan>,
    ((d: Record<string, unknown>) => unknown)?,
  ][] = [
    ['signed by another key', 'no endorsement connects its signing key to', { signer: thief }],
    [
      'with the thief’s key endorsed by the thief',
      'no endorsement connects its signing key to',
      {
        signer: thief,
        chain: [
          { public_key: relaySigner.publicKey, endorsement: null },
          { public_key: thief.publicKey, endorsement: endorse(thief, thief) },
        ],
      },
    ],
    [
      'with an endorsement for a different key',
      'no endorsement connects its signing key to',
      {
        signer: thief,
        chain: [
          { public_key: relaySigner.publicKey, endorsement: null },
          { public_key: thief.publicKey, endorsement: endorse(relaySigner, nextSigner) },
        ],
      },
    ],
    [
      'with a reordered chain',
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
    ['with a sequence that goes back', 'older than a list that was seen before', { sequence: 1 }],
    ['with a sequence far ahead of its date', 'too far ahead', { sequence: Number.MAX_SAFE_INTEGER }],
    ['with two primary keys', 'not a key list', {}, twoPrimaries],
    ['with no primary key', 'not a key list', {}, (document) => ({ ...document, keys: [] })],
    ['of a different version', 'not a key list', {}, (document) => ({ ...document, version: 2 })],
    ['without signing keys', 'not a key list', {}, (document) => ({ ...document, signing_keys: [] })],
  ];

  function twoPrimaries(document: Record<string, unknown>): unknown {
    const [primary] = document.keys as unknown[];
    return { ...document, keys: [primary, primary] };
  }

  it.each(attacks)('by a list %s', async (_, reason, plan, change) => {
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

  it('by adding a key to a good list', async () => {
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
    ['the domain of endorsements', 'waxwing signing key v1'],
    ['none', ''],
    ['a later version', 'waxwing key list v2'],
  ])('by a signature for a different domain: %s', async (_, domain) => {
    const { publish, registrar, server, sealedTo } = await createFollowingPhone();
    publish({ primary: thiefKey });
    const text = atob(String(server.keyList?.key_list));
    server.keyList = { ...server.keyList, signature: relaySigner.sign(inDomain(domain, text)) };
    await expect(registrar.sync()).resolves.toMatchObject({
      warning: expect.stringContaining('its signature is wrong'),
    });
    expect(sealedTo()).toEqual([builtIn]);
  });

  it('by using the signature of a list as an endorsement', async () => {
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

  it('by a replay of an old list with a revoked key', async () => {
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

  it('by a new, validly signed list with a revoked or dropped key', async () => {
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

  it('by a server clock that is set back to keep an expired list valid', async () => {
    const { publish, registrar, server, sealedTo } = await createFollowingPhone();
    publish({ primary: thiefKey });
    server.now += 60 * day * 1000;
    server.claimedLateness = -60 * day * 1000;
    await expect(registrar.sync()).resolves.toMatchObject({
      warning: expect.stringContaining('it has expired'),
    });
    expect(new Set(sealedTo())).toEqual(new Set([builtIn]));
  });

  it('by a list from the future that would block later lists, even if the server’s clock agrees', async () => {
    const { publish, registrar, server, now, sealedTo } = await createFollowingPhone();
    server.claimedLateness = 365 * day * 1000;
    publish({ primary: thiefKey, issuedAt: now() + 365 * day });
    await expect(registrar.sync()).resolves.toMatchObject({
      warning: expect.stringContaining('issued in the future'),
    });
    expect(new Set(sealedTo())).toEqual(new Set([builtIn]));
  });

  it.each([
    [-6, 'key-list', 'active'],
    [-8, 'built-in', 'clock-wrong'],
    [29, 'key-list', 'clock-wrong'],
    [31, 'built-in', 'clock-wrong'],
  ])('and a phone whose clock is %d days off uses the %s and reports %s', async (days, keySource, code) => {
    const { publish, registrar, knobs } = await createFollowingPhone();
    knobs.clockErrorMilliseconds = days * day * 1000;
    publish();
    await expect(registrar.sync()).resolves.toMatchObject({ code, keySource });
  });

  it('by replacing the list with any other document', async () => {
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
