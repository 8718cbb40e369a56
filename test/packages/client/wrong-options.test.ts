import { createPushClient, type PushClientOptions, type PushToken } from '@waxwing/client';
import { describe, expect, it } from 'vitest';
import { createPhone } from './phone.js';

describe('What an app without types hands over', () => {
  it.each([
    ['a bare token', 'fcm-token-secret', /pushToken must give an object .* a bare string/],
    ['nothing but null', null, /pushToken must give an object .* null/],
    [
      'another kind',
      { tokenKind: 'gcm', token: 'secret' },
      "pushToken.tokenKind must be 'fcm' or 'apns', but is 'gcm'",
    ],
    ['no kind', { token: 'secret' }, 'pushToken.tokenKind must be'],
    ['no token', { tokenKind: 'fcm' }, 'pushToken.token is missing'],
    ['no bundle id', { tokenKind: 'apns', token: 'c0ffee' }, 'pushToken.iosAppId is missing'],
    [
      'another environment',
      { tokenKind: 'apns', token: 'c0ffee', iosAppId: 'com.example.chat', apnsEnvironment: 'development' },
      "pushToken.apnsEnvironment must be 'production' or 'sandbox', but is 'development'",
    ],
  ])('is refused as a push token by its field: %s', async (_, pushToken, message) => {
    const { server, knobs, registrar } = await createPhone();
    // Even where nothing would have to be sent.
    await registrar.sync();
    knobs.token = pushToken as PushToken;
    const refused = registrar.sync();
    await expect(refused).rejects.toThrow(RangeError);
    await expect(refused).rejects.toThrow(message);
    await expect(refused).rejects.not.toThrow('secret');
    expect(server.registrations).toHaveLength(1);
  });

  it.each([
    ['pushToken', {}],
    ['accounts', {}],
    ['seen', {}],
    ['bouncerPublicKey', {}],
    ['keyList.signingPublicKey', { keyList: { store: {} } }],
    ['keyList.store', { keyList: { signingPublicKey: btoa('k'.repeat(32)) } }],
  ])('is refused without %s', async (name, others) => {
    const all = {
      bouncerPublicKey: btoa('k'.repeat(32)),
      pushToken: () => undefined,
      accounts: {},
      seen: {},
    };
    const options = { ...all, [name]: undefined, ...others } as unknown as PushClientOptions;
    await expect(createPushClient(options)).rejects.toThrow(`${name} is missing`);
  });

  it.each(['realmUrl', 'userId', 'email', 'apiKey'])('is refused as an account without %s', async (name) => {
    const { server, client } = await createPhone();
    const account = { realmUrl: server.url, userId: 10, email: server.email, apiKey: server.apiKey };
    expect(() => client.registrar({ ...account, [name]: undefined })).toThrow(`${name} is missing`);
  });
});
