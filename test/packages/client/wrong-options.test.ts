import {
  createMemoryKeyListStore,
  createMemoryPushAccountStore,
  createMemorySeenNotifications,
  createPushClient,
  createTextStores,
  type PushClientOptions,
  type PushToken,
  type SignedInAccount,
  type TextStorage,
} from '@waxwing/client';
import { describe, expect, it } from 'vitest';
import { createPhone } from './phone.js';

function optionsWithout(name: string, others: object): PushClientOptions {
  const all = {
    bouncerPublicKey: btoa('k'.repeat(32)),
    pushToken: () => undefined,
    accounts: createMemoryPushAccountStore(),
    seen: createMemorySeenNotifications(),
  };
  return { ...all, [name]: undefined, ...others } as unknown as PushClientOptions;
}

/** A storage, which an app without types may pass instead of a store by mistake. */
const localStorageLike = { getItem: () => null, setItem: () => undefined, removeItem: () => undefined };

describe('The client, in an app without types', () => {
  it.each([
    ['a bare token', 'fcm-token-secret', /pushToken must return an object .* a bare string/],
    ['null', null, /pushToken must return an object .* null/],
    [
      'another kind',
      { tokenKind: 'gcm', token: 'secret' },
      "pushToken.tokenKind must be 'fcm', 'apns' or 'webpush', but is 'gcm'",
    ],
    ['no kind', { token: 'secret' }, 'pushToken.tokenKind must be'],
    ['no token', { tokenKind: 'fcm' }, 'pushToken.token is missing'],
    [
      'no subscription',
      { tokenKind: 'webpush', token: 'https://push.example.com/secret' },
      'create the token with fromPushSubscription or fromUnifiedPush',
    ],
    ['no bundle id', { tokenKind: 'apns', token: 'c0ffee' }, 'pushToken.iosAppId is missing'],
    [
      'another environment',
      { tokenKind: 'apns', token: 'c0ffee', iosAppId: 'com.example.chat', apnsEnvironment: 'development' },
      "pushToken.apnsEnvironment must be 'production' or 'sandbox', but is 'development'",
    ],
  ])('rejects an invalid push token, and names the wrong field: %s', async (_, pushToken, message) => {
    const { server, knobs, registrar } = await createPhone();
    // A sync that has nothing to send also rejects the token.
    await registrar.sync();
    knobs.token = pushToken as PushToken;
    const refused = registrar.sync();
    await expect(refused).rejects.toThrow(RangeError);
    await expect(refused).rejects.toThrow(message);
    await expect(refused).rejects.not.toThrow('secret');
    expect(server.registrations).toHaveLength(1);
  });

  it.each([
    ['ExponentPushToken[xxxxxxxxxxxxxxxxxxxxxx]', 'getDevicePushTokenAsync'],
    ['ExpoPushToken[xxxxxxxxxxxxxxxxxxxxxx]', 'getDevicePushTokenAsync'],
    ['c0ffee00'.repeat(8), "tokenKind 'apns'"],
    ['C0FFEE00'.repeat(8), "tokenKind 'apns'"],
    ['<c0ffee00 c0ffee00 c0ffee00 c0ffee00 c0ffee00 c0ffee00 c0ffee00 c0ffee00>', "tokenKind 'apns'"],
    ['c0ffee00'.repeat(20), "tokenKind 'apns'"],
    [Array(8).fill('c0ffee00').join(' '), "tokenKind 'apns'"],
    ['{length = 32, bytes = 0x740f4707 bebcf74f ... 0b3b9b5b }', 'hexadecimal digits'],
    [btoa('k'.repeat(32)), 'base64 of 32 bytes'],
    ['3f2504e0-4f89-11d3-9a0c-0305e82c3301', 'UUID'],
    ['fcm-token-1:APA91b Example', 'damaged'],
    ['fcm-token-1:APA91b\u0000', 'damaged'],
    ['fcm-token-1:APA91b\u2013Example', 'damaged'],
    ['1:123456789012:android:0123456789abcdef', 'id of a Firebase app'],
    ['1:123456789012:ios:0123456789abcdef', 'id of a Firebase app'],
    [`AIza${'Sy-_0'.repeat(7)}`, 'API key'],
    [`B${'Ab-_01'.repeat(14)}xy`, 'VAPID'],
    ['eyJhbGciOiJFUzI1NiJ9.eyJhcHBJZCI6IjE6MSJ9.c2lnbmF0dXJl', 'JWT'],
    ['https://fcm.googleapis.com/fcm/send/abc:APA91b', 'Web Push'],
    ['{"endpoint":"https://push.example.com","keys":{}}', 'fromPushSubscription'],
    ['{"token":"fcm-token-1:APA91bExample_-"}', 'JSON'],
    ['"fcm-token-1:APA91bExample_-"', 'JSON'],
    ['arn:aws:sns:us-east-1:1:endpoint/GCM/app/1', 'Amazon SNS'],
    ['undefined', 'await the token'],
    ['null', 'await the token'],
    ['[object Promise]', 'await the token'],
    ['[object Object]', 'await the token'],
    ['fcm-token-1:APA91bExample_-\n', 'white space'],
    [' fcm-token-1:APA91bExample_-', 'white space'],
  ])('rejects a string that is not an FCM token, without quoting it: %j', async (token, message) => {
    const { server, knobs, registrar } = await createPhone();
    knobs.token = { tokenKind: 'fcm', token };
    const refused = registrar.sync();
    await expect(refused).rejects.toThrow(RangeError);
    await expect(refused).rejects.toThrow(message);
    if (token.length > 16) await expect(refused).rejects.not.toThrow(token);
    expect(server.registrations).toEqual([]);
  });

  it('rejects a pushToken that is not a function, and an unusable public key', async () => {
    const given = { pushToken: { tokenKind: 'fcm', token: 't' } };
    await expect(createPushClient(optionsWithout('nothing', given))).rejects.toThrow(
      'pushToken must be a function',
    );
    const zero = { bouncerPublicKey: btoa('\0'.repeat(32)) };
    await expect(createPushClient(optionsWithout('nothing', zero))).rejects.toThrow(
      'bouncerPublicKey is a low-order point',
    );
  });

  it.each([
    ['undefined', undefined],
    ['null', null],
    ['an empty object', {}],
    ['an MMKV instance', { getString: () => undefined, set: () => undefined, remove: () => undefined }],
    ['Expo SecureStore', { getItemAsync: () => null, setItemAsync: () => null, deleteItemAsync: () => null }],
  ])('rejects a value that is not a text storage: %s', (_, storage) => {
    const make = () => createTextStores(storage as unknown as TextStorage);
    expect(make).toThrow(RangeError);
    expect(make).toThrow('storage must have the methods getItem, setItem and removeItem');
  });

  it.each([
    ['pushToken', {}],
    ['accounts', {}],
    ['seen', {}],
    ['bouncerPublicKey', {}],
    ['keyList.signingPublicKey', { keyList: { store: {} } }],
    ['keyList.store', { keyList: { signingPublicKey: btoa('k'.repeat(32)) } }],
  ])('rejects options without %s', async (name, others) => {
    await expect(createPushClient(optionsWithout(name, others))).rejects.toThrow(`${name} is missing`);
  });

  it.each([
    ['accounts', 'get', localStorageLike],
    ['accounts', 'get', 5],
    ['seen', 'addIfNew', localStorageLike],
    ['seen', 'addIfNew', new Set()],
    ['forgotten', 'put', localStorageLike],
    ['keyList.store', 'get', localStorageLike],
  ])('rejects the store %s without the method %s', async (name, method, store) => {
    const others =
      name === 'keyList.store'
        ? { keyList: { signingPublicKey: btoa('k'.repeat(32)), store } }
        : { [name]: store };
    const refused = createPushClient(optionsWithout('nothing', others));
    await expect(refused).rejects.toThrow(RangeError);
    await expect(refused).rejects.toThrow(`${name} has no method ${method}: pass the store`);
  });

  it.each([
    ['fetch', 5, 'fetch must be a function, but is of type number.'],
    ['fetch', { post() {} }, 'fetch must be a function, but is of type object.'],
    ['clock', 1_700_000_000_000, 'clock must be a function, but is of type number.'],
    ['random', null, 'random must be a function, but is null.'],
    ['keyList', null, 'keyList.store is missing: createTextStores creates one.'],
  ])('rejects an invalid value of the option %s: %j', async (name, value, message) => {
    const refused = createPushClient(optionsWithout('nothing', { [name]: value }));
    await expect(refused).rejects.toThrow(RangeError);
    await expect(refused).rejects.toThrow(message);
  });

  it('rejects missing options and a missing account', async () => {
    const make = createPushClient as (options?: object) => Promise<unknown>;
    await expect(make()).rejects.toThrow('pushToken is missing.');
    const { client } = await createPhone();
    expect(client.registrar as () => unknown).toThrow('realmUrl is missing.');
  });

  it.each(['accounts', 'seen', 'keyList.store'])(
    'rejects options without %s, with an error that says how to create the store',
    async (name) => {
      const others = { keyList: { signingPublicKey: btoa('k'.repeat(32)), store: undefined } };
      const refused = createPushClient(optionsWithout(name, others));
      await expect(refused).rejects.toThrow(`${name} is missing: createTextStores creates one.`);
    },
  );

  it.each([
    ['undefined', undefined, undefined],
    ['the "none" of waxwing-relay keys export-public', 'none', /keyList.recoveryPublicKey .*"none": omit it/],
  ])('handles a missing recovery key, given as %s', async (_, recoveryPublicKey, message) => {
    const keyList = {
      signingPublicKey: btoa('k'.repeat(32)),
      recoveryPublicKey,
      store: createMemoryKeyListStore(),
    };
    const made = createPushClient(optionsWithout('nothing', { keyList }));
    if (message === undefined) await expect(made).resolves.toBeDefined();
    else await expect(made).rejects.toThrow(message);
  });

  it('rejects a user id that is a string', async () => {
    const { server, client } = await createPhone();
    const account = { realmUrl: server.url, userId: '2', email: server.email, apiKey: server.apiKey };
    const register = () => client.registrar(account as unknown as SignedInAccount);
    expect(register).toThrow('userId must be an integer, but is the string "2".');
  });

  it.each(['realmUrl', 'userId', 'email', 'apiKey'])('rejects an account without %s', async (name) => {
    const { server, client } = await createPhone();
    const account = { realmUrl: server.url, userId: 10, email: server.email, apiKey: server.apiKey };
    expect(() => client.registrar({ ...account, [name]: undefined })).toThrow(`${name} is missing`);
  });
});
