import { relayRegisterPath } from '@waxwing/protocol';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { refused } from '../../../support/relay-stand-in.js';
import { type Account, ServerUnderTest } from '../server-under-test.js';
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
let addresses = 0;
beforeAll(async () => {
  test = await ServerUnderTest.start({ registrationsPerHour: 1000 });
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

/** Registers a device with an active key and token. */
async function activeDevice(account: Account = ada, token = 'token') {
  const id = await createDevice(test, account);
  const key = keyFields(7);
  await test.register(account, { device_id: String(id), ...key, ...tokenFields(token) });
  await test.settle();
  return { id, key };
}

describe('mobile_push/register', () => {
  it('registers key and token together, and publishes each step', async () => {
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
        id: 1,
        type: 'device',
        op: 'update',
        device_id: id,
        push_key_id: 4294967295,
        pending_push_token_id: '+wKIhyAx/Eg=',
        push_token_last_updated_timestamp: timestamp,
        push_registration_error_code: null,
      },
      {
        id: 2,
        type: 'device',
        op: 'update',
        device_id: id,
        push_token_id: '+wKIhyAx/Eg=',
        pending_push_token_id: null,
      },
    ]);
    expect(await devicesOf(test, ada)).toEqual({
      [id]: {
        ...nothing,
        push_key_id: 4294967295,
        push_token_id: '+wKIhyAx/Eg=',
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

  it('accepts an id with unused bits set like stock servers, and shows and forwards its canonical form', async () => {
    const id = await createDevice(test, ada);
    const token = { ...tokenFields('c0ffee', 'apns'), token_id: '+wKIhyAx/Eh=' };
    expect((await test.register(ada, { device_id: String(id), ...keyFields(7), ...token })).body).toEqual(
      success,
    );
    await test.settle();
    expect(await devicesOf(test, ada)).toMatchObject({ [id]: { push_token_id: '+wKIhyAx/Eg=' } });
    const forwarded = test.relay.requests.map(({ body }) => new URLSearchParams(body).get('token_id'));
    expect(forwarded).toEqual(['+wKIhyAx/Eg=']);
  });

  it('rotates a key alone without the relay, even while a token is pending', async () => {
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

  it('rotates a token alone, and keeps the old token active until the relay has confirmed the new token', async () => {
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
        id: 0,
        type: 'device',
        op: 'update',
        device_id: id,
        pending_push_token_id: tokenIdOf('second'),
        push_token_last_updated_timestamp: timestamp,
        push_registration_error_code: null,
      },
      {
        id: 1,
        type: 'device',
        op: 'update',
        device_id: id,
        push_token_id: tokenIdOf('second'),
        pending_push_token_id: null,
      },
    ]);
  });

  it('ignores an incomplete group of parameters beside a complete group', async () => {
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

  it('changes nothing if key and token are current, and renews them after a day', async () => {
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

  it('treats the same token of another kind, or with another key, as a new registration', async () => {
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
    ['INVALID_BOUNCER_PUBLIC_KEY', 'INVALID_BOUNCER_PUBLIC_KEY'],
    ['REQUEST_EXPIRED', 'REQUEST_EXPIRED'],
    ['BAD_REQUEST', 'BAD_REQUEST'],
    ['SOME_CODE_OF_THE_FUTURE', 'BAD_REQUEST'],
  ])('fails permanently when the relay responds with %s, and keeps the pending id', async (said, code) => {
    const { id } = await activeDevice();
    const events = await test.openQueue(ada);
    test.relay.otherwise(refused(400, said));
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
    ['an invalid bouncer key', { bouncer_public_key: 'no key' }, 'INVALID_BOUNCER_PUBLIC_KEY'],
    ['a registration that is not base64', { encrypted_push_registration: '@' }, 'BAD_REQUEST'],
    ['a registration that is too long', { encrypted_push_registration: 'A'.repeat(72_004) }, 'BAD_REQUEST'],
  ])('accepts %s at first, and reports the failure in an event', async (_name, wrong, code) => {
    const id = await createDevice(test, ada);
    const events = await test.openQueue(ada);
    const fields = { device_id: String(id), ...keyFields(7), ...tokenFields('token'), ...wrong };
    expect((await test.register(ada, fields)).body).toEqual(success);
    await test.settle();
    expect((await events())[1]).toEqual({
      id: 1,
      type: 'device',
      op: 'update',
      device_id: id,
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
    ['a 200 without a success result', { status: 200, body: '<html>' }],
  ] as const)('retries after %s for 24 hours, then fails with REQUEST_EXPIRED', async (_name, reaction) => {
    const id = await createDevice(test, ada);
    test.relay.otherwise(reaction);
    await test.register(ada, { device_id: String(id), ...keyFields(7), ...tokenFields('token') });
    await test.settle();
    // Counts only registrations: other requests check whether push is allowed.
    const asked = () => test.relay.requests.filter(({ path }) => path === relayRegisterPath);
    expect(asked()).toHaveLength(1);
    test.now += day - 1;
    await test.settle();
    expect(asked()).toHaveLength(2);
    expect(await devicesOf(test, ada)).toMatchObject({ [id]: { push_registration_error_code: null } });
    const events = await test.openQueue(ada);
    test.now += 1;
    await test.settle();
    expect(await events()).toEqual([
      { id: 0, type: 'device', op: 'update', device_id: id, push_registration_error_code: 'REQUEST_EXPIRED' },
    ]);
  });
});
