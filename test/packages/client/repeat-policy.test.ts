import { decodePushAccount, encodePushAccount, type PushAccount } from '@waxwing/client';
import { describe, expect, it } from 'vitest';
import { countRepeat, isWorthRepeating, repeatDelaySeconds } from '#client/registration/repeat-policy.js';
import { createPhone } from './phone.js';

const refused = 'INVALID_BOUNCER_PUBLIC_KEY';
const pushToken = { tokenKind: 'fcm', token: 'a' } as const;
const sent = { pushToken, bouncerPublicKey: 'one', timestamp: 0, repeatedForSequence: 7 };
const ofList = (publicKey: string, sequence: number) =>
  ({ source: 'key-list', publicKey, sequence }) as const;
const minute = 60_000;
const day = 86_400_000;

it('isWorthRepeating allows a refused key once per key list, and any other key', () => {
  const isWorth = (publicKey: string, sequence: number) => {
    const key = ofList(publicKey, sequence);
    return isWorthRepeating({ sent, errorCode: refused, key, now: 0, retryNow: false });
  };
  expect([isWorth('one', 7), isWorth('one', 8), isWorth('two', 7)]).toEqual([false, true, true]);
});

it('repeatDelaySeconds doubles for each repeat of one cause, up to six hours', () => {
  let failed = { ...sent };
  const waits: number[] = [];
  for (let tries = 0; tries < 11; tries += 1) {
    waits.push(repeatDelaySeconds({ sent: failed, errorCode: 'BAD_REQUEST', key: ofList('one', 7), now: 0 }));
    failed = { ...sent, ...countRepeat(failed, 'BAD_REQUEST', 0) };
  }
  expect(waits).toEqual([0, 60, 120, 240, 480, 960, 1920, 3840, 7680, 15_360, 21_600]);
  const wait = (errorCode: string, key = ofList('one', 7), now = 0) =>
    repeatDelaySeconds({ sent: failed, errorCode, key, now });
  expect(wait('BAD_REQUEST', ofList('two', 8))).toBe(0);
  expect(wait('REQUEST_EXPIRED')).toBe(0);
  expect(wait('BAD_REQUEST', ofList('one', 7), 3600_000)).toBe(18_000);
  // The phone's clock was a year ahead when the repeat was recorded, and has been corrected.
  expect(wait('BAD_REQUEST', ofList('one', 7), -365 * day)).toBe(0);
});

it('the repeat count is stored, and dropped if it is damaged', () => {
  const { repeats } = countRepeat(sent, 'BAD_REQUEST', 5);
  const account: PushAccount = {
    pushAccountId: 5n as never,
    realmUrl: 'https://chat.example.com',
    userId: 10,
    keyPair: { publicKey: new Uint8Array(32).fill(1), privateKey: new Uint8Array(32).fill(2) },
    registration: { ...sent, ...(repeats && { repeats }) },
  };
  const text = encodePushAccount(account);
  expect(decodePushAccount(text)).toEqual(account);
  const { registration } = decodePushAccount(text.replace('"count":1', '"count":"1"'));
  expect(registration).toEqual(sent);
});

describe.each([431, 500])('A phone whose registration always fails, level %d', (featureLevel) => {
  async function failingPhone(errorCode = 'BAD_REQUEST') {
    const phone = await createPhone();
    const { server, registrar } = phone;
    server.featureLevel = featureLevel;
    server.verdictOn = () => errorCode;
    const registered = () =>
      server.requests.filter(({ method, path }) => method === 'POST' && path.endsWith('mobile_push/register'))
        .length;
    expect(await registrar.sync()).toMatchObject({ code: 'failed' });
    return { ...phone, registered };
  }

  it.each(['BAD_REQUEST', 'REQUEST_EXPIRED', 'SOMETHING_NEW'])(
    'repeats at most 30 times on the first day, and 4 times a day from then on, with a sync per minute: %s',
    async (errorCode) => {
      const { server, registrar, registered } = await failingPhone(errorCode);
      const syncForADay = async () => {
        const before = registered();
        const end = server.now + day;
        while (server.now < end) {
          await registrar.sync();
          server.now += minute;
        }
        return registered() - before;
      };
      expect(await syncForADay()).toBeLessThanOrEqual(30);
      // A sync sends an expired registration up to three times, each time with a new date.
      expect(await syncForADay()).toBeLessThanOrEqual(errorCode === 'REQUEST_EXPIRED' ? 12 : 4);
    },
  );

  it('repeats immediately the first time, and then reports when to call again', async () => {
    const { server, registrar, registered } = await failingPhone();
    expect(await registrar.sync()).toMatchObject({ code: 'failed', retryAfterSeconds: 60 });
    expect(registered()).toBe(2);
    server.now += minute - 1;
    expect(await registrar.sync()).toMatchObject({ code: 'failed', retryAfterSeconds: 1 });
    expect(registered()).toBe(2);
    server.now += 1;
    server.verdictOn = () => null;
    expect(await registrar.sync()).toMatchObject({ code: 'active' });
    expect(registered()).toBe(3);
  });

  it('repeats immediately for the user, for another token, and for another cause', async () => {
    const { server, knobs, registrar, registered } = await failingPhone();
    await registrar.sync();
    await registrar.sync({ retryNow: true });
    expect(registered()).toBe(3);
    knobs.token = { tokenKind: 'fcm', token: 'another' };
    await registrar.sync();
    expect(registered()).toBe(4);
    server.verdictOn = () => 'SOMETHING_NEW';
    await registrar.sync();
    expect(registered()).toBe(5);
    expect(await registrar.sync()).toMatchObject({ errorCode: 'SOMETHING_NEW' });
    expect(registered()).toBe(6);
    await registrar.sync();
    expect(registered()).toBe(6);
  });
});
