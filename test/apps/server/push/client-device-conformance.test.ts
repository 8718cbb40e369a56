import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { refused } from '../../../support/relay-stand-in.js';
import { type Account, ServerUnderTest, testPhone } from '../server-under-test.js';
import {
  createDevice,
  devicesOf,
  keyFields,
  tokenFields,
  tokenIdOf,
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

const day = 86_400_000;
const nothing = {
  push_key_id: null,
  push_token_id: null,
  pending_push_token_id: null,
  push_token_last_updated_timestamp: null,
  push_registration_error_code: null,
};
const success = { result: 'success', msg: '' };
const refusal = (msg: string, code = 'BAD_REQUEST', more = {}) => ({ result: 'error', msg, code, ...more });

/** A device with a key and a token in force. */
async function activeDevice(account: Account = ada, token = 'token') {
  const id = await createDevice(test, account);
  const key = keyFields(7);
  await test.register(account, { device_id: String(id), ...key, ...tokenFields(token) });
  await test.settle();
  return { id, key };
}

describe('a device of a client', () => {
  it('is created and removed, with an event for each, for its user only', async () => {
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

  it('can be removed once, by its user', async () => {
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

  it('has an id that grows with time, so that a restored database gives none to another phone', async () => {
    const before = await createDevice(test, ada);
    await test.stop();
    test.now += 1000;
    await test.boot();
    expect((await createDevice(test, ada)) - before).toBeGreaterThan(200_000);
  });

  it('is refused to bots', async () => {
    const bot = await test.addAccount(`bot${addresses}@example.com`, { isBot: true });
    for (const path of ['register_client_device', 'remove_client_device', 'mobile_push/register']) {
      expect((await test.ask(bot, 'POST', path, { device_id: '1' })).body).toEqual(
        refusal('This endpoint does not accept bot requests.'),
      );
    }
  });
});

describe('mobile_push/register refuses', () => {
  const key = keyFields(7);
  const token = tokenFields('token');
  const missing = 'Missing parameters: must provide either all push key fields, all token fields, or both.';
  const notAKeyId = 'Invalid push_key_id: Value error, Not a valid unsigned 32-bit integer';
  const notBase64 = '`token_id` is not Base64 encoded';
  const inProgress = 'A registration for the device already in progress.';
  const wrongDevice = 'Invalid `device_id`';
  const badKeyPrefix = `Mi${key.push_key.slice(2)}`;

  /** Whatever is wrong later in the order is wrong too, so that each row shows its place. */
  it.each([
    ['a key id above 32 bits', 'none', { ...key, push_key_id: '4294967296' }, notAKeyId],
    ['a negative key id', 'none', { ...key, push_key_id: '-1' }, notAKeyId],
    ['a key id that is no integer', 'none', { ...key, push_key_id: '1.5' }, notAKeyId],
    [
      'a kind of token that it does not know',
      'none',
      { ...token, token_kind: 'x' },
      'Invalid token_kind: must be one of fcm, apns',
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
    ['a key that is no base64', 'active', { ...key, push_key: '@abcdefg' }, 'Invalid `push_key`'],
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
  ] as const)('%s', async (_name, state, fields, message) => {
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

  it('what names neither generation, as the newer one does', async () => {
    const { push_account_id: _account, ...older } = testPhone('5').fields;
    for (const fields of [{}, key, older]) {
      expect((await test.register(ada, fields)).body).toEqual(
        refusal("Missing 'device_id' argument", 'REQUEST_VARIABLE_MISSING', { var_name: 'device_id' }),
      );
    }
  });

  it('what the older generation lacks, by its own names', async () => {
    const { push_public_key: _key, ...fields } = testPhone('5').fields;
    expect((await test.register(ada, fields)).body).toEqual(
      refusal("Missing 'push_public_key' argument", 'REQUEST_VARIABLE_MISSING', {
        var_name: 'push_public_key',
      }),
    );
  });

  it('everything above the hourly limit, but no repeat', async () => {
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

describe('mobile_push/register', () => {
  it('registers key and token together, and shows each step', async () => {
    const events = await test.openQueue(ada);
    const id = await createDevice(test, ada);
    const token = tokenFields('c0ffee', 'apns');
    const answer = await test.register(ada, { device_id: String(id), ...keyFields(4294967295), ...token });
    expect([answer.status, answer.body]).toEqual([200, success]);
    await test.settle();
    const timestamp = test.now / 1000;
    expect(await events()).toEqual([
      { id: 0, type: 'device', op: 'add', device_id: id },
      {
        ...{ id: 1, type: 'device', op: 'update', device_id: id, push_key_id: 4294967295 },
        ...{ pending_push_token_id: '+wKIhyAx/Eg=', push_token_last_updated_timestamp: timestamp },
        push_registration_error_code: null,
      },
      {
        ...{ id: 2, type: 'device', op: 'update', device_id: id },
        ...{ push_token_id: '+wKIhyAx/Eg=', pending_push_token_id: null },
      },
    ]);
    expect(await devicesOf(test, ada)).toEqual({
      [id]: {
        ...nothing,
        ...{ push_key_id: 4294967295, push_token_id: '+wKIhyAx/Eg=' },
        push_token_last_updated_timestamp: timestamp,
      },
    });
    const [request] = test.relay.requests;
    expect(request?.path).toBe('/api/v1/remotes/push/e2ee/register');
    expect(Object.fromEntries(new URLSearchParams(request?.body))).toEqual({
      realm_uuid: test.server.realmUuid,
      token_id: '+wKIhyAx/Eg=',
      bouncer_public_key: token.bouncer_public_key,
      encrypted_push_registration: token.encrypted_push_registration,
    });
  });

  it('rotates a key alone, without the relay, also while a token is pending', async () => {
    const { id } = await activeDevice();
    const events = await test.openQueue(ada);
    test.relay.requests.length = 0;
    const fields = { device_id: String(id), ...keyFields(8) };
    await test.register(ada, fields);
    await test.register(ada, fields);
    expect(await events()).toEqual([{ id: 0, type: 'device', op: 'update', device_id: id, push_key_id: 8 }]);
    expect(test.relay.requests).toEqual([]);
    test.relay.otherwise({ status: 503 });
    await test.register(ada, { device_id: String(id), ...tokenFields('second') });
    expect((await test.register(ada, { device_id: String(id), ...keyFields(9) })).status).toBe(200);
  });

  it('rotates a token alone; the former one stays in force until the relay has confirmed it', async () => {
    const { id } = await activeDevice();
    const events = await test.openQueue(ada);
    test.relay.next({ status: 503 });
    await test.register(ada, { device_id: String(id), ...tokenFields('second') });
    await test.settle();
    const timestamp = test.now / 1000;
    expect(await devicesOf(test, ada)).toMatchObject({
      [id]: { push_token_id: tokenIdOf('token'), pending_push_token_id: tokenIdOf('second') },
    });
    test.now += 1000;
    await test.settle();
    expect(await events()).toEqual([
      {
        ...{ id: 0, type: 'device', op: 'update', device_id: id },
        ...{ pending_push_token_id: tokenIdOf('second'), push_token_last_updated_timestamp: timestamp },
        push_registration_error_code: null,
      },
      {
        ...{ id: 1, type: 'device', op: 'update', device_id: id },
        ...{ push_token_id: tokenIdOf('second'), pending_push_token_id: null },
      },
    ]);
  });

  it('ignores half a group beside a whole one', async () => {
    const { id } = await activeDevice();
    const events = await test.openQueue(ada);
    const half = { token_kind: 'fcm', token_id: '@' };
    expect((await test.register(ada, { device_id: String(id), ...keyFields(8), ...half })).status).toBe(200);
    const other = { ...tokenFields('second'), push_key: '@' };
    expect((await test.register(ada, { device_id: String(id), ...other })).status).toBe(200);
    expect(
      (await events()).map(({ push_key_id, pending_push_token_id: pending }) => [push_key_id, pending]),
    ).toEqual([
      [8, undefined],
      [undefined, tokenIdOf('second')],
    ]);
  });

  it('changes nothing for what is in force, and renews it after a day', async () => {
    const { id, key } = await activeDevice();
    const events = await test.openQueue(ada, { queue_lifespan_secs: '600000' });
    test.relay.requests.length = 0;
    const both = { device_id: String(id), ...key, ...tokenFields('token') };
    const token = { device_id: String(id), ...tokenFields('token') };
    test.now += day;
    for (const fields of [both, token]) expect((await test.register(ada, fields)).body).toEqual(success);
    await test.settle();
    expect(test.relay.requests).toEqual([]);
    expect(await events()).toEqual([]);
    for (const fields of [token, both]) {
      test.now += day + 1;
      await test.register(ada, fields);
      await test.settle();
      expect(await devicesOf(test, ada)).toMatchObject({
        [id]: {
          push_token_id: tokenIdOf('token'),
          pending_push_token_id: null,
          push_token_last_updated_timestamp: Math.floor(test.now / 1000),
        },
      });
    }
    expect(test.relay.requests).toHaveLength(2);
  });

  it('takes the same token of another kind, or with another key, as a registration', async () => {
    const { id, key } = await activeDevice();
    const asked = [
      { ...key, ...tokenFields('token', 'apns') },
      { ...keyFields(7), ...tokenFields('token', 'apns') },
    ];
    for (const fields of asked) {
      test.relay.requests.length = 0;
      await test.register(ada, { device_id: String(id), ...fields });
      await test.settle();
      expect(test.relay.requests).toHaveLength(1);
    }
  });

  it.each([
    ['INVALID_BOUNCER_PUBLIC_KEY', 400],
    ['REQUEST_EXPIRED', 400],
    ['BAD_REQUEST', 400],
    ['SOME_CODE_OF_THE_FUTURE', 422],
  ])('fails for good when the relay answers %s, and keeps the pending id', async (code, status) => {
    const { id } = await activeDevice();
    const events = await test.openQueue(ada);
    test.relay.otherwise(refused(status, code));
    await test.register(ada, { device_id: String(id), ...tokenFields('second') });
    await test.settle();
    expect((await events()).slice(1)).toEqual([
      { id: 1, type: 'device', op: 'update', device_id: id, push_registration_error_code: code },
    ]);
    expect(await devicesOf(test, ada)).toMatchObject({
      [id]: {
        push_token_id: tokenIdOf('token'),
        pending_push_token_id: tokenIdOf('second'),
        push_registration_error_code: code,
      },
    });
    test.relay.otherwise(tokenRegistered);
    await test.register(ada, { device_id: String(id), ...tokenFields('second') });
    await test.settle();
    expect(await devicesOf(test, ada)).toMatchObject({
      [id]: {
        push_token_id: tokenIdOf('second'),
        pending_push_token_id: null,
        push_registration_error_code: null,
      },
    });
  });

  it.each([
    ['a bouncer key that is no key', { bouncer_public_key: 'no key' }, 'INVALID_BOUNCER_PUBLIC_KEY'],
    ['a registration that is no base64', { encrypted_push_registration: '@' }, 'BAD_REQUEST'],
    ['a registration that is too long', { encrypted_push_registration: 'A'.repeat(72_004) }, 'BAD_REQUEST'],
  ])('takes %s, and reports by an event that it is refused', async (_name, wrong, code) => {
    const id = await createDevice(test, ada);
    const events = await test.openQueue(ada);
    const fields = { device_id: String(id), ...keyFields(7), ...tokenFields('token'), ...wrong };
    expect((await test.register(ada, fields)).body).toEqual(success);
    await test.settle();
    expect((await events())[1]).toEqual({
      ...{ id: 1, type: 'device', op: 'update', device_id: id },
      push_registration_error_code: code,
    });
    expect(test.relay.requests).toEqual([]);
  });

  it.each([
    ['a 503', { status: 503 }],
    ['a cut connection', 'cut'],
    ['a 401', refused(401, 'UNAUTHORIZED')],
    ['an unknown organization', refused(403, 'MISSING_REMOTE_REALM')],
    ['a refused plan', refused(400, 'PUSH_NOTIFICATIONS_DISALLOWED')],
    ['a 200 that is no success', { status: 200, body: '<html>' }],
  ] as const)('retries after %s for 24 hours, then fails with REQUEST_EXPIRED', async (_name, reaction) => {
    const id = await createDevice(test, ada);
    test.relay.otherwise(reaction);
    await test.register(ada, { device_id: String(id), ...keyFields(7), ...tokenFields('token') });
    await test.settle();
    expect(test.relay.requests).toHaveLength(1);
    test.now += day - 1;
    await test.settle();
    expect(test.relay.requests).toHaveLength(2);
    expect(await devicesOf(test, ada)).toMatchObject({ [id]: { push_registration_error_code: null } });
    const events = await test.openQueue(ada);
    test.now += 1;
    await test.settle();
    expect(await events()).toEqual([
      { id: 0, type: 'device', op: 'update', device_id: id, push_registration_error_code: 'REQUEST_EXPIRED' },
    ]);
  });
});

describe('a server without a relay', () => {
  it('creates devices, and refuses registrations before it looks at the device', async () => {
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
