import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { refused, registered } from '../../support/relay-stand-in.js';
import {
  type Account,
  relayServerId,
  relayServerKey,
  ServerUnderTest,
  testPhone,
} from './server-under-test.js';

const accountId = '9007199254740993';
let test: ServerUnderTest;
let ada: Account;

beforeEach(async () => {
  test = await ServerUnderTest.start();
  ada = await test.addAccount('Ada@example.com');
});
afterEach(() => test.close());

describe('registering a push device', () => {
  it('responds immediately, forwards the registration, and publishes that the device is active', async () => {
    const phone = testPhone(accountId);
    const events = await test.openQueue(ada);
    test.relay.otherwise(registered(7));
    const answer = await test.register(ada, phone.fields);
    expect([answer.status, answer.body]).toEqual([200, { result: 'success', msg: '' }]);
    await test.settle();
    expect(await test.pushDevices(ada)).toEqual({ [accountId]: { status: 'active', error_code: null } });
    expect(await events()).toEqual([
      { id: 0, type: 'push_device', push_account_id: accountId, status: 'active' },
    ]);
    expect(test.relay.requests).toHaveLength(1);
    const [request] = test.relay.requests;
    expect(request?.path).toBe('/api/v1/remotes/push/e2ee/register');
    expect(request?.headers['content-type']).toBe('application/x-www-form-urlencoded');
    expect(Buffer.from(request?.headers.authorization?.split(' ')[1] ?? '', 'base64').toString()).toBe(
      `${relayServerId}:${relayServerKey}`,
    );
    expect(Object.fromEntries(new URLSearchParams(request?.body))).toEqual({
      realm_uuid: test.server.realmUuid,
      push_account_id: accountId,
      encrypted_push_registration: phone.fields.encrypted_push_registration,
      bouncer_public_key: phone.fields.bouncer_public_key,
    });
  });

  it('leaves the device pending until the relay has decided', async () => {
    test.relay.otherwise({ status: 503 });
    await test.register(ada, testPhone(accountId).fields);
    await test.settle();
    expect(await test.pushDevices(ada)).toEqual({ [accountId]: { status: 'pending', error_code: null } });
  });

  it.each([
    ['INVALID_BOUNCER_PUBLIC_KEY', 'INVALID_BOUNCER_PUBLIC_KEY'],
    ['REQUEST_EXPIRED', 'REQUEST_EXPIRED'],
    ['BAD_REQUEST', 'BAD_REQUEST'],
    ['SOME_CODE_OF_THE_FUTURE', 'BAD_REQUEST'],
  ])('fails permanently, with a code and an event, when the relay responds with %s', async (said, code) => {
    const events = await test.openQueue(ada);
    test.relay.otherwise(refused(400, said));
    await test.register(ada, testPhone('-5').fields);
    await test.settle();
    expect(await test.pushDevices(ada)).toEqual({ '-5': { status: 'failed', error_code: code } });
    expect(await events()).toEqual([
      { id: 0, type: 'push_device', push_account_id: '-5', status: 'failed', error_code: code },
    ]);
    test.now += 25 * 60 * 60_000;
    await test.settle();
    expect(test.relay.requests).toHaveLength(1);
  });

  it.each([
    ['a 500', { status: 500, body: 'oops' }],
    ['a 503', refused(503, 'RATE_LIMIT_HIT')],
    ['a 429', refused(429, 'RATE_LIMIT_HIT')],
    ['a 401', refused(401, 'UNAUTHORIZED')],
    ['a 403', refused(403, 'MISSING_REMOTE_REALM')],
    ['a refusal that an administrator must fix', refused(400, 'PUSH_NOTIFICATIONS_DISALLOWED')],
    ['a redirection', { status: 302, headers: { location: '/' } }],
    ['a 200 with an invalid body', { status: 200, body: '<html>' }],
    ['a 200 without the device', { status: 200, body: { result: 'success' } }],
    ['a 404 that is not from a relay', { status: 404, body: '<h1>Not Found</h1>' }],
    ['a closed connection', 'cut'],
    ['an oversized response', { status: 200, body: 'x'.repeat(300_000) }],
  ] as const)('retries after %s', async (_name, reaction) => {
    test.relay.next(reaction);
    test.relay.otherwise(registered(1));
    await test.register(ada, testPhone(accountId).fields);
    await test.settle();
    expect(await test.pushDevices(ada)).toEqual({ [accountId]: { status: 'pending', error_code: null } });
    test.now += 1000;
    await test.settle();
    expect(await test.pushDevices(ada)).toEqual({ [accountId]: { status: 'active', error_code: null } });
  });

  it('retries after a timeout', async () => {
    await test.stop();
    await test.boot({ isImpatient: true });
    test.relay.otherwise('silence');
    await test.register(ada, testPhone(accountId).fields);
    await test.settle();
    expect(await test.pushDevices(ada)).toEqual({ [accountId]: { status: 'pending', error_code: null } });
    await test.stop();
    await test.boot();
    await test.settle();
    expect(await test.pushDevices(ada)).toEqual({ [accountId]: { status: 'pending', error_code: null } });
    test.relay.otherwise(registered(1));
    test.now += 1000;
    await test.settle();
    expect(await test.pushDevices(ada)).toEqual({ [accountId]: { status: 'active', error_code: null } });
  });

  it('backs off from one second to one hour, and gives up after 24 hours with REQUEST_EXPIRED', async () => {
    const events = await test.openQueue(ada, { event_types: '["push_device"]' });
    const start = test.now;
    const attempts: number[] = [];
    test.relay.otherwise(() => {
      attempts.push(test.now - start);
      return { status: 503 };
    });
    await test.register(ada, testPhone(accountId).fields);
    await test.settle();
    // The random number is 0, so the delays are half of 1 s, 2 s, 4 s … 1 h.
    for (let doubled = 1; doubled < 3600; doubled *= 2) {
      test.now += doubled * 500;
      await test.settle();
    }
    expect(attempts.slice(0, 5)).toEqual([0, 500, 1500, 3500, 7500]);
    const reached = attempts.length;
    test.now += 30 * 60_000 - 1;
    await test.settle();
    expect(attempts).toHaveLength(reached);
    test.now += 1;
    await test.settle();
    expect(attempts).toHaveLength(reached + 1);
    test.now = start + 24 * 60 * 60_000 - 1;
    await test.settle();
    expect(await test.pushDevices(ada)).toEqual({ [accountId]: { status: 'pending', error_code: null } });
    const before = attempts.length;
    test.now += 1;
    await test.settle();
    expect(attempts).toHaveLength(before);
    expect(await test.pushDevices(ada)).toEqual({
      [accountId]: { status: 'failed', error_code: 'REQUEST_EXPIRED' },
    });
    // The queue from a day ago has expired, but the state still shows the failure.
    expect(await events()).toBeUndefined();
  });

  it('sends the event when it gives up', async () => {
    test.relay.otherwise('cut');
    await test.register(ada, testPhone(accountId).fields);
    await test.settle();
    test.now += 24 * 60 * 60_000;
    const events = await test.openQueue(ada);
    await test.settle();
    expect(await events()).toEqual([
      {
        id: 0,
        type: 'push_device',
        push_account_id: accountId,
        status: 'failed',
        error_code: 'REQUEST_EXPIRED',
      },
    ]);
  });

  it('honors Retry-After, in seconds or as a date', async () => {
    test.relay.next({ status: 429, headers: { 'retry-after': '120' } });
    test.relay.next({ status: 503, headers: { 'retry-after': new Date(test.now + 300_000).toUTCString() } });
    test.relay.otherwise(registered(1));
    await test.register(ada, testPhone(accountId).fields);
    await test.settle();
    test.now += 119_999;
    await test.settle();
    expect(test.relay.requests).toHaveLength(1);
    test.now += 1;
    await test.settle();
    expect(test.relay.requests).toHaveLength(2);
    test.now += 179_999;
    await test.settle();
    expect(test.relay.requests).toHaveLength(2);
    test.now += 1;
    await test.settle();
    expect(await test.pushDevices(ada)).toEqual({ [accountId]: { status: 'active', error_code: null } });
  });

  it('is idempotent while pending or active', async () => {
    const phone = testPhone(accountId);
    const events = await test.openQueue(ada);
    test.relay.next({ status: 503 });
    test.relay.otherwise(registered(1));
    await test.register(ada, phone.fields);
    await test.settle();
    expect((await test.register(ada, phone.fields)).status).toBe(200);
    await test.settle();
    expect(test.relay.requests).toHaveLength(1);
    test.now += 1000;
    await test.settle();
    expect((await test.register(ada, phone.fields)).status).toBe(200);
    await test.settle();
    expect(test.relay.requests).toHaveLength(2);
    expect(await events()).toHaveLength(1);
  });

  it('forwards an identical retry of a failed registration', async () => {
    const phone = testPhone(accountId);
    test.relay.next(refused(400, 'INVALID_BOUNCER_PUBLIC_KEY'), { status: 503 });
    test.relay.otherwise(registered(1));
    await test.register(ada, phone.fields);
    await test.settle();
    await test.register(ada, phone.fields);
    await test.settle();
    expect(await test.pushDevices(ada)).toEqual({ [accountId]: { status: 'pending', error_code: null } });
    test.now += 1000;
    await test.settle();
    expect(await test.pushDevices(ada)).toEqual({ [accountId]: { status: 'active', error_code: null } });
  });

  it('activates only the newest of several registrations of a device', async () => {
    const [first, second] = [testPhone(accountId), testPhone(accountId)];
    test.relay.next({ status: 503 });
    test.relay.otherwise(registered(2));
    await test.register(ada, first.fields);
    await test.settle();
    await test.register(ada, second.fields);
    await test.settle();
    test.now += 60 * 60_000;
    await test.settle();
    const sent = test.relay.requests.map(({ body }) =>
      new URLSearchParams(body).get('encrypted_push_registration'),
    );
    expect(sent).toEqual([
      first.fields.encrypted_push_registration,
      second.fields.encrypted_push_registration,
    ]);
  });

  it('keeps devices of different users with the same push_account_id separate', async () => {
    const bob = await test.addAccount('bob@example.com');
    test.relay.next(registered(1), refused(400, 'BAD_REQUEST'));
    await test.register(ada, testPhone('1').fields);
    await test.settle();
    await test.register(bob, testPhone('1').fields);
    await test.settle();
    expect(await test.pushDevices(ada)).toEqual({ '1': { status: 'active', error_code: null } });
    expect(await test.pushDevices(bob)).toEqual({ '1': { status: 'failed', error_code: 'BAD_REQUEST' } });
  });

  it('accepts identical registrations from two users', async () => {
    const bob = await test.addAccount('bob@example.com');
    const { fields } = testPhone('1');
    test.relay.next(registered(1), registered(2));
    for (const account of [ada, bob]) {
      expect((await test.register(account, fields)).status).toBe(200);
      await test.settle();
      expect(await test.pushDevices(account)).toEqual({ '1': { status: 'active', error_code: null } });
    }
  });

  it('loses nothing when the server stops between accepting and forwarding', async () => {
    test.relay.otherwise({ status: 503 });
    await test.register(ada, testPhone(accountId).fields);
    await test.stop();
    test.now += 1000;
    test.relay.otherwise(registered(3));
    await test.boot();
    await test.settle();
    expect(await test.pushDevices(ada)).toEqual({ [accountId]: { status: 'active', error_code: null } });
  });

  it('removes line breaks from a ciphertext before forwarding it', async () => {
    const phone = testPhone(accountId);
    const sealed = phone.fields.encrypted_push_registration ?? '';
    const broken = `${sealed.slice(0, 76)}\r\n${sealed.slice(76)}\n`;
    test.relay.otherwise(registered(3));
    await test.register(ada, { ...phone.fields, encrypted_push_registration: broken });
    await test.settle();
    const forwarded = new URLSearchParams(test.relay.requests[0]?.body);
    expect(forwarded.get('encrypted_push_registration')).toBe(sealed);
  });
});
