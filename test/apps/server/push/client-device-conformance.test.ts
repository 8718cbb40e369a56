import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Account, ServerUnderTest, testPhone } from '../server-under-test.js';
import {
  createDevice,
  devicesOf,
  keyFields,
  tokenFields,
  tokenRegistered,
} from './client-device-under-test.js';

let test: ServerUnderTest;
let ada: Account;
let bob: Account;
let addresses = 0;
beforeAll(async () => {
  test = await ServerUnderTest.start({ registrationsPerHour: 1000 });
  bob = await test.addAccount('bob@example.com');
});
beforeEach(async () => {
  addresses += 1;
  ada = await test.addAccount(`ada${addresses}@example.com`);
  test.relay.otherwise(tokenRegistered);
  test.relay.requests.length = 0;
});
afterEach(() => test.settle());
afterAll(() => test.close());

const nothing = {
  push_key_id: null,
  push_token_id: null,
  pending_push_token_id: null,
  push_token_last_updated_timestamp: null,
  push_registration_error_code: null,
};
const success = { result: 'success', msg: '' };
const refusal = (msg: string, code = 'BAD_REQUEST', more = {}) => ({ result: 'error', msg, code, ...more });

describe('a client device', () => {
  it('can be created and removed only for its user, with an event each time', async () => {
    const [events, others] = [await test.openQueue(ada), await test.openQueue(bob)];
    const answer = await test.ask(ada, 'POST', 'register_client_device');
    const id = answer.body.device_id as number;
    expect([answer.status, answer.body]).toEqual([200, { ...success, device_id: id }]);
    expect(Number.isSafeInteger(id)).toBe(true);
    expect(await devicesOf(test, ada)).toEqual({ [id]: nothing });
    const removal = await test.ask(ada, 'POST', 'remove_client_device', { device_id: String(id) });
    expect([removal.status, removal.body]).toEqual([200, success]);
    expect(await devicesOf(test, ada)).toEqual({});
    expect(await events()).toEqual([
      { id: 0, type: 'device', op: 'add', device_id: id },
      { id: 1, type: 'device', op: 'remove', device_id: id },
    ]);
    expect(await others()).toEqual([]);
  });

  it('can be removed only once, and only by its user', async () => {
    const id = String(await createDevice(test, ada));
    const remove = async (account: Account, fields: Record<string, string>) =>
      (await test.ask(account, 'POST', 'remove_client_device', fields)).body;
    expect(await remove(bob, { device_id: id })).toEqual(refusal('Invalid `device_id`'));
    expect(await remove(ada, {})).toEqual(
      refusal("Missing 'device_id' argument", 'REQUEST_VARIABLE_MISSING', { var_name: 'device_id' }),
    );
    expect(await remove(ada, { device_id: 'x' })).toEqual(refusal('Invalid device_id: must be an integer'));
    expect(await remove(ada, { device_id: '-1' })).toEqual(refusal('Invalid `device_id`'));
    expect(await remove(ada, { device_id: id })).toEqual(success);
    expect(await remove(ada, { device_id: id })).toEqual(refusal('Invalid `device_id`'));
  });

  it('has an id that grows with time, so that a restored database does not reuse ids', async () => {
    const before = await createDevice(test, ada);
    await test.stop();
    test.now += 1000;
    await test.boot();
    expect((await createDevice(test, ada)) - before).toBeGreaterThan(200_000);
  });

  it('is refused for bots', async () => {
    const bot = await test.addAccount(`bot${addresses}@example.com`, { isBot: true });
    for (const path of ['register_client_device', 'remove_client_device', 'mobile_push/register']) {
      expect((await test.ask(bot, 'POST', path, { device_id: '1' })).body).toEqual(
        refusal('This endpoint does not accept bot requests.'),
      );
    }
  });
});

describe('mobile_push/register', () => {
  const key = keyFields(7);
  const token = tokenFields('token');
  const missing = 'Missing parameters: must provide either all push key fields, all token fields, or both.';
  const notAKeyId = 'Invalid push_key_id: Value error, Not a valid unsigned 32-bit integer';
  const notBase64 = '`token_id` is not Base64 encoded';
  const inProgress = 'A registration for the device already in progress.';
  const wrongDevice = 'Invalid `device_id`';
  const badKeyPrefix = `Mi${key.push_key.slice(2)}`;

  /** Each row also contains all later errors, so that the rows show the order of the checks. */
  it.each([
    ['a key id above 32 bits', 'none', { ...key, push_key_id: '4294967296' }, notAKeyId],
    ['a negative key id', 'none', { ...key, push_key_id: '-1' }, notAKeyId],
    ['a key id that is not an integer', 'none', { ...key, push_key_id: '1.5' }, notAKeyId],
    [
      'an unknown kind of token',
      'none',
      { ...token, token_kind: 'x' },
      'Invalid token_kind: must be one of fcm, apns, webpush',
    ],
    ['an unknown device', 'none', { push_key: '@' }, wrongDevice],
    ['an unknown device with a whole group', 'none', key, wrongDevice],
    ["another user's device", 'foreign', { ...token, token_id: '@' }, wrongDevice],
    ['no group', 'new', {}, missing],
    ['half of each group', 'new', { push_key_id: '1', token_id: '@' }, missing],
    [
      'three quarters of a token',
      'new',
      { token_kind: 'fcm', token_id: '@', bouncer_public_key: 'x' },
      missing,
    ],
    [
      'a key for a device without one',
      'new',
      { ...key, push_key: '@' },
      'No push registration exists to rotate key for.',
    ],
    ['a key that is not base64', 'active', { ...key, push_key: '@abcdefg' }, 'Invalid `push_key`'],
    ['a key that is too short', 'active', { ...key, push_key: 'abcd' }, 'Invalid `push_key`'],
    ['a key for another cipher', 'active', { ...key, push_key: badKeyPrefix }, 'Invalid `push_key`'],
    ['a token while one is pending', 'pending', { ...token, token_id: '@' }, inProgress],
    [
      'key and token while one is pending',
      'pending',
      { ...token, ...key, token_id: '@', push_key: '@' },
      inProgress,
    ],
    ['a token id that is no base64', 'new', { ...token, token_id: '@abcdefg' }, notBase64],
    ['an empty token id', 'new', { ...token, token_id: '' }, notBase64],
    ['a token id of 7 bytes', 'new', { ...token, token_id: 'AAAAAAAAAA==' }, notBase64],
    [
      'a token id of 9 bytes',
      'new',
      { ...token, ...key, token_id: 'AAAAAAAAAAAA', push_key: '@' },
      notBase64,
    ],
    ['a token id without padding', 'new', { ...token, token_id: 'AAAAAAAAAAE' }, notBase64],
    ['a token for a device without a key', 'new', token, 'No push registration exists to rotate token for.'],
    ['a wrong key with a token', 'new', { ...token, ...key, push_key: '@' }, 'Invalid `push_key`'],
  ] as const)('refuses %s', async (_name, state, fields, message) => {
    if (state === 'pending') test.relay.otherwise({ status: 503 });
    const owner = state === 'foreign' ? bob : ada;
    const id = state === 'none' ? 1 : await createDevice(test, owner);
    if (state === 'active' || state === 'pending') {
      await test.register(ada, { device_id: String(id), ...keyFields(7), ...tokenFields('other') });
      await test.settle();
    }
    const before = await devicesOf(test, owner);
    const events = await test.openQueue(ada);
    const answer = await test.register(ada, { device_id: String(id), ...fields });
    expect([answer.status, answer.body]).toEqual([400, refusal(message)]);
    expect(await events()).toEqual([]);
    expect(await devicesOf(test, owner)).toEqual(before);
  });

  it('refuses requests that name neither generation, with the error of the newer generation', async () => {
    for (const fields of [{}, key, token]) {
      expect((await test.register(ada, fields)).body).toEqual(
        refusal("Missing 'device_id' argument", 'REQUEST_VARIABLE_MISSING', { var_name: 'device_id' }),
      );
    }
  });

  it('refuses requests that lack fields of the older generation, with the names of that generation', async () => {
    const { push_public_key: _key, ...fields } = testPhone('5').fields;
    expect((await test.register(ada, fields)).body).toEqual(
      refusal("Missing 'push_public_key' argument", 'REQUEST_VARIABLE_MISSING', {
        var_name: 'push_public_key',
      }),
    );
  });

  it('refuses requests above the hourly limit, except repeats', async () => {
    const few = await ServerUnderTest.start({ registrationsPerHour: 1 });
    few.relay.otherwise(tokenRegistered);
    const eve = await few.addAccount('eve@example.com');
    const device_id = String(await createDevice(few, eve));
    const fields = { device_id, ...key, ...token };
    expect((await few.register(eve, fields)).status).toBe(200);
    await few.settle();
    expect((await few.register(eve, fields)).status).toBe(200);
    const limited = await few.register(eve, { device_id, ...keyFields(8) });
    expect([limited.status, limited.body.code]).toEqual([429, 'RATE_LIMIT_HIT']);
    expect(limited.headers['retry-after']).toBe('3600');
    await few.close();
  });
});

describe('a server without a relay', () => {
  it('creates devices, and refuses registrations before it looks up the device', async () => {
    const without = await ServerUnderTest.start({ withoutRelay: true });
    const eve = await without.addAccount('eve@example.com');
    await createDevice(without, eve);
    const answer = await without.register(eve, { device_id: '1' });
    expect(answer.body).toEqual(
      refusal('Server is not configured to use push notification service.', 'PUSH_SERVICE_NOT_CONFIGURED'),
    );
    await without.close();
  });
});
