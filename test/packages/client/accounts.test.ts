import {
  createMemoryPushAccountStore,
  decodePushAccount,
  encodePushAccount,
  type PushAccount,
  pickPushAccountId,
} from '@waxwing/client';
import { parsePushAccountId } from '@waxwing/protocol';
import { describe, expect, it } from 'vitest';
import fc from '../../support/fast-check.js';

const account: PushAccount = {
  pushAccountId: parsePushAccountId('9007199254740993') ?? (0n as never),
  realmUrl: 'https://chat.example.com',
  userId: 10,
  keyPair: { publicKey: new Uint8Array(32).fill(1), privateKey: new Uint8Array(32).fill(2) },
};

describe('A push account id', () => {
  it('is 63 random bits', async () => {
    const store = createMemoryPushAccountStore();
    expect(await pickPushAccountId(store, () => new Uint8Array(8).fill(0xff))).toBe(2n ** 63n - 1n);
    expect(await pickPushAccountId(store, () => new Uint8Array(8))).toBe(0n);
  });

  it('is regenerated if the table already contains the id', async () => {
    const store = createMemoryPushAccountStore();
    const draws = [5, 5, 6].map((last) => Uint8Array.of(0, 0, 0, 0, 0, 0, 0, last));
    await store.put({ ...account, pushAccountId: parsePushAccountId(5) ?? (0n as never) });
    expect(await pickPushAccountId(store, () => draws.shift() ?? new Uint8Array(8))).toBe(6n);
    expect(draws).toEqual([]);
  });

  it('cannot be created with a broken random source: fails instead of looping', async () => {
    const store = createMemoryPushAccountStore();
    await store.put({ ...account, pushAccountId: parsePushAccountId(0) ?? (0n as never) });
    await expect(pickPushAccountId(store, () => new Uint8Array(8))).rejects.toThrow('it is broken');
  });
});

const pushToken = fc.oneof(
  fc.record({ tokenKind: fc.constant('fcm' as const), token: fc.string({ minLength: 1 }) }),
  fc.record({
    tokenKind: fc.constant('apns' as const),
    token: fc.constant('00ff'),
    iosAppId: fc.constant('a.b'),
    apnsEnvironment: fc.constantFrom('production' as const, 'sandbox' as const),
  }),
);
const registration = fc.record(
  {
    pushToken,
    bouncerPublicKey: fc.base64String(),
    timestamp: fc.integer(),
    repeatedForSequence: fc.maxSafeInteger(),
  },
  { requiredKeys: ['pushToken', 'bouncerPublicKey', 'timestamp'] },
);
const key = fc.uint8Array({ minLength: 32, maxLength: 32 });
const anyAccount = fc.record(
  {
    pushAccountId: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }) as fc.Arbitrary<
      PushAccount['pushAccountId']
    >,
    realmUrl: fc.webUrl(),
    userId: fc.oneof(fc.maxSafeInteger(), fc.bigInt({ min: 2n ** 53n, max: 2n ** 64n })),
    keyPair: fc.record({ publicKey: key, privateKey: key }),
    sequence: fc.maxSafeNat(),
    registration,
  },
  { requiredKeys: ['pushAccountId', 'realmUrl', 'userId', 'keyPair'] },
);

describe('An account as text', () => {
  it('round-trips', () => {
    fc.assert(
      fc.property(anyAccount, (original) => {
        expect(decodePushAccount(encodePushAccount(original))).toEqual(original);
      }),
    );
  });

  it.each(['', 'null', '{}', '[]', '1', encodePushAccount(account).replace('"realmUrl"', '"realm"')])(
    'is rejected if the text is “%s”',
    (text) => {
      expect(() => decodePushAccount(text)).toThrow(SyntaxError);
    },
  );

  it('can be read in the format of app versions without a sequence', () => {
    const text = encodePushAccount({ ...account, sequence: 7 });
    expect(decodePushAccount(text.replace(',"sequence":7', ''))).toEqual(account);
    expect(() => decodePushAccount(text.replace(':7', ':"7"'))).toThrow(SyntaxError);
  });

  it('is rejected if the registration is invalid', () => {
    const text = encodePushAccount(account).replace(/}$/, ',"registration":{"pushToken":1}}');
    expect(() => decodePushAccount(text)).toThrow(SyntaxError);
  });

  it.each([
    {},
    { tokenKind: 'fcm' },
    { tokenKind: 'other', token: 'abc' },
    { tokenKind: 'apns', token: '00ff' },
    { tokenKind: 'apns', token: '00ff', iosAppId: 'a.b', apnsEnvironment: 'other' },
  ])('is decoded with a dummy token if the stored token is invalid: %j', (given) => {
    const registration = JSON.stringify({ pushToken: given, bouncerPublicKey: '', timestamp: 1 });
    const text = encodePushAccount(account).replace(/}$/, `,"registration":${registration}}`);
    expect(decodePushAccount(text).registration?.pushToken).toEqual({ tokenKind: 'fcm', token: '' });
  });
});
