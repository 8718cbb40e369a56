import { livenessTimeoutSeconds } from '@waxwing/protocol';
import { describe, expect, it } from 'vitest';
import { createPhone } from './phone.js';

const day = 86_400_000;

describe('registrar.sync', () => {
  it('registers a new account and reports that notifications are on', async () => {
    const { server, accounts, registrar, bouncerPublicKey } = await createPhone();
    const status = await registrar.sync();
    const [account] = await accounts.list();
    expect(status).toEqual({
      code: 'active',
      sentence: 'Notifications are on for this phone.',
      keySource: 'built-in',
      pushAccountId: account?.pushAccountId,
    });
    const { registration, ...sent } = server.lastRegistration;
    expect(sent).toMatchObject({ pushAccountId: String(account?.pushAccountId), bouncerPublicKey });
    expect(registration).toEqual({
      token_kind: 'fcm',
      token: 'fcm-token-1:APA91bExample_-',
      timestamp: server.now / 1000,
      push_account_id: String(account?.pushAccountId),
      sequence: server.now,
      audience: server.realmUuid,
      nonce: expect.stringMatching(/^[A-Za-z0-9+/]{22}==$/),
    });
  });

  it('deletes the event queue that it used', async () => {
    const { server, registrar } = await createPhone();
    await registrar.sync();
    expect(server.requests.at(-1)).toMatchObject({ method: 'DELETE', path: '/api/v1/events' });
    expect(server.requests.at(-1)?.fields.get('queue_id')).toBe('queue 1');
  });

  it('hides the length of the token in the sealed registration', async () => {
    const sizes = new Set<number>();
    for (const token of ['x', 'y'.repeat(163), 'z'.repeat(300)]) {
      const { server, knobs, registrar } = await createPhone();
      knobs.token = { tokenKind: 'fcm', token };
      await registrar.sync();
      sizes.add(server.lastRegistration.sealedBytes);
    }
    expect([...sizes]).toEqual([512 + 48]);
  });

  it('seals the bundle id and the environment of an APNs token', async () => {
    const { server, knobs, registrar } = await createPhone();
    knobs.token = {
      tokenKind: 'apns',
      token: 'C0FFEE00',
      iosAppId: 'com.example.chat',
      apnsEnvironment: 'sandbox',
    };
    await expect(registrar.sync()).resolves.toMatchObject({ code: 'active' });
    expect(server.lastRegistration.registration).toMatchObject({
      token_kind: 'apns',
      token: 'C0FFEE00',
      ios_app_id: 'com.example.chat',
      apns_environment: 'sandbox',
    });
  });

  it('sends nothing when everything is up to date', async () => {
    const { server, registrar } = await createPhone();
    await registrar.sync();
    server.now += 29 * day;
    await expect(registrar.sync()).resolves.toMatchObject({ code: 'active' });
    expect(server.registrations).toHaveLength(1);
  });

  it('re-registers after 30 days with the same id and key', async () => {
    const { server, registrar } = await createPhone();
    await registrar.sync();
    server.now += 30 * day;
    await registrar.sync();
    const [first, second] = server.registrations;
    expect(server.registrations).toHaveLength(2);
    expect(second).toMatchObject({
      pushAccountId: first?.pushAccountId,
      pushPublicKey: first?.pushPublicKey,
    });
  });

  it.each([
    ['another token', { tokenKind: 'fcm', token: 'other' }],
    ['a token of another kind', { tokenKind: 'apns', token: '00ff', iosAppId: 'a.b' }],
  ] as const)('re-registers for %s', async (_, token) => {
    const { server, knobs, registrar } = await createPhone();
    await registrar.sync();
    knobs.token = token;
    await expect(registrar.sync()).resolves.toMatchObject({ code: 'active' });
    expect(server.registrations.map(({ registration }) => registration.token)).toEqual([
      'fcm-token-1:APA91bExample_-',
      token.token,
    ]);
  });

  it('re-registers if the server has lost the device', async () => {
    const { server, registrar } = await createPhone();
    await registrar.sync();
    server.devices.clear();
    await expect(registrar.sync()).resolves.toMatchObject({ code: 'active' });
    expect(server.registrations).toHaveLength(2);
  });

  it('re-registers a failed device, once per call', async () => {
    const { server, registrar } = await createPhone();
    server.verdictOn = () => 'BAD_REQUEST';
    await expect(registrar.sync()).resolves.toMatchObject({ code: 'failed', errorCode: 'BAD_REQUEST' });
    expect(server.registrations).toHaveLength(1);
    await registrar.sync();
    expect(server.registrations).toHaveLength(2);
  });

  it.each([
    ['INVALID_BOUNCER_PUBLIC_KEY', 'update-app'],
    ['MISSING_REMOTE_REALM', 'ask-admin'],
    ['PUSH_SERVICE_NOT_CONFIGURED', 'not-configured'],
    ['SOMETHING_NEW', 'failed'],
  ])('explains %s to the user', async (errorCode, code) => {
    const { server, registrar } = await createPhone();
    server.verdictOn = () => errorCode;
    await expect(registrar.sync()).resolves.toMatchObject({ code, errorCode });
  });

  it('does not retry with its only key after the relay has refused this key', async () => {
    const { server, registrar } = await createPhone();
    server.bouncerKeys.clear();
    await expect(registrar.sync()).resolves.toMatchObject({
      code: 'update-app',
      warning: expect.stringContaining('it is retired, or belongs to another relay'),
    });
    await registrar.sync();
    expect(server.registrations).toHaveLength(1);
  });

  it('returns pending while the relay is down, and the result in a later call', async () => {
    const { server, registrar } = await createPhone();
    server.relayIsUp = false;
    await expect(registrar.sync()).resolves.toMatchObject({ code: 'pending' });
    server.decide(server.lastRegistration.pushAccountId, null);
    await expect(registrar.sync()).resolves.toMatchObject({ code: 'active' });
    expect(server.registrations).toHaveLength(1);
  });

  it('resends a registration that has been pending for longer than the relay accepts registrations', async () => {
    const { server, registrar } = await createPhone();
    server.relayIsUp = false;
    await registrar.sync({ settleTimeoutMilliseconds: 0 });
    server.now += livenessTimeoutSeconds * 1000;
    await registrar.sync({ settleTimeoutMilliseconds: 0 });
    expect(server.registrations).toHaveLength(1);
    server.now += 1000;
    await registrar.sync({ settleTimeoutMilliseconds: 0 });
    expect(server.registrations).toHaveLength(2);
  });

  it('re-registers if the relay reports the registration as expired', async () => {
    const { server, registrar } = await createPhone();
    server.verdictOn = () => (server.registrations.length === 1 ? 'REQUEST_EXPIRED' : null);
    await expect(registrar.sync()).resolves.toMatchObject({ code: 'active' });
    expect(server.registrations).toHaveLength(2);
  });

  it('gives up after three registrations that have expired', async () => {
    const { server, registrar } = await createPhone();
    server.verdictOn = () => 'REQUEST_EXPIRED';
    await expect(registrar.sync()).resolves.toMatchObject({ errorCode: 'REQUEST_EXPIRED' });
    expect(server.registrations).toHaveLength(3);
  });

  it('serializes concurrent calls, so that there is one account and one registration', async () => {
    const { server, accounts, registrar } = await createPhone();
    await Promise.all([registrar.sync(), registrar.sync(), registrar.sync()]);
    expect(await accounts.list()).toHaveLength(1);
    expect(server.registrations).toHaveLength(1);
  });

  it('serializes the calls of two registrars for one account', async () => {
    const { server, client, accounts } = await createPhone();
    const { url: realmUrl, userId, email, apiKey } = server;
    const sync = () => client.registrar({ realmUrl, userId, email, apiKey }).sync();
    await Promise.all([sync(), sync()]);
    expect(await accounts.list()).toHaveLength(1);
    expect(server.registrations).toHaveLength(1);
  });

  it('ignores events of the user’s other phones', async () => {
    const { server, registrar } = await createPhone();
    server.verdictOn = () => {
      server.decide('5', 'BAD_REQUEST');
      return null;
    };
    await expect(registrar.sync()).resolves.toMatchObject({ code: 'active' });
  });

  it('reports that the phone has no token, without a request to the server', async () => {
    const { server, knobs, registrar } = await createPhone();
    knobs.token = undefined;
    await expect(registrar.sync()).resolves.toMatchObject({ code: 'no-token' });
    expect(server.requests).toEqual([]);
  });

  it('throws for a token that no relay accepts', async () => {
    const { server, knobs, registrar } = await createPhone();
    knobs.token = { tokenKind: 'apns', token: 'not hexadecimal', iosAppId: 'com.example.chat' };
    await expect(registrar.sync()).rejects.toThrow(RangeError);
    expect(server.registrations).toEqual([]);
  });

  it('reports that the server has no push service', async () => {
    const { server, registrar } = await createPhone();
    server.overrides.set('/api/v1/mobile_push/register', () => server.error('PUSH_SERVICE_NOT_CONFIGURED'));
    await expect(registrar.sync()).resolves.toMatchObject({ code: 'not-configured' });
  });

  it('reports that the sign-in is no longer valid', async () => {
    const { server, client } = await createPhone();
    const registrar = client.registrar({
      realmUrl: server.url,
      userId: 10,
      email: server.email,
      apiKey: 'old',
    });
    await expect(registrar.sync()).resolves.toMatchObject({
      code: 'signed-out',
      errorCode: 'INVALID_API_KEY',
    });
  });

  it('reports that the server cannot be reached, and registers in a later call', async () => {
    const { server, registrar } = await createPhone();
    server.overrides.set('/api/v1/register', () => Promise.reject(new TypeError('fetch failed')));
    await expect(registrar.sync()).resolves.toMatchObject({
      code: 'unreachable',
      warning: 'https://chat.example.com/api/v1/register cannot be reached.',
    });
    server.overrides.clear();
    await expect(registrar.sync()).resolves.toMatchObject({ code: 'active' });
  });

  it('reports the server’s Retry-After', async () => {
    const { server, registrar } = await createPhone();
    const tooMany = () => server.error('RATE_LIMIT_HIT', 429, {}, { 'retry-after': '17' });
    server.overrides.set('/api/v1/register', tooMany);
    await expect(registrar.sync()).resolves.toMatchObject({ code: 'retry-later', retryAfterSeconds: 17 });
  });

  it('tolerates that the event queue no longer exists when sync deletes it', async () => {
    const { server, registrar } = await createPhone();
    server.overrides.set('/api/v1/events', () => server.error('BAD_EVENT_QUEUE_ID'));
    await expect(registrar.sync()).resolves.toMatchObject({ code: 'pending' });
  });

  it('recovers after the account store has failed once', async () => {
    const { accounts, registrar } = await createPhone();
    const { list } = accounts;
    accounts.list = () => Promise.reject(new Error('the keychain is locked'));
    await expect(registrar.sync()).rejects.toThrow('the keychain is locked');
    accounts.list = list;
    await expect(registrar.sync()).resolves.toMatchObject({ code: 'active' });
  });
});
