import { parseJson } from '@waxwing/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSealed } from '../../support/noble-oracle.js';
import { notified, refused, registered } from '../../support/relay-stand-in.js';
import {
  type Account,
  type Answer,
  ServerUnderTest,
  type TestPhone,
  testPhone,
} from './server-under-test.js';

const accountId = '9223372036854775807';
let test: ServerUnderTest;
let ada: Account;

beforeEach(async () => {
  test = await ServerUnderTest.start();
  ada = await test.addAccount('ada@example.com');
});
afterEach(() => test.close());

async function activate(phone: TestPhone, relayDeviceId: number): Promise<void> {
  test.relay.next(registered(relayDeviceId));
  await test.register(ada, phone.fields);
  await test.settle();
}

async function notify(fields: Record<string, string> = {}): Promise<Answer> {
  return test.ask(ada, 'POST', 'mobile_push/e2ee/test_notification', fields);
}

interface SentRequest {
  readonly device_id: number;
  readonly fcm_priority?: string;
  readonly http_headers?: unknown;
  readonly payload: {
    readonly push_account_id: unknown;
    readonly encrypted_data: string;
    readonly aps?: unknown;
  };
}

function lastSent(): { realm_uuid: string; push_requests: SentRequest[] } {
  const request = test.relay.requests.at(-1);
  expect(request?.path).toBe('/api/v1/remotes/push/e2ee/notify');
  expect(request?.headers['content-type']).toBe('application/json');
  return parseJson(request?.body ?? '') as unknown as ReturnType<typeof lastSent>;
}

function open(phone: TestPhone, sent: SentRequest | undefined): { plaintext: unknown; bytes: number } {
  const sealed = Buffer.from(sent?.payload.encrypted_data ?? '', 'base64');
  const opened = openSealed(sealed, phone.publicKey, phone.privateKey);
  return { plaintext: JSON.parse(Buffer.from(opened ?? []).toString()), bytes: opened?.length ?? 0 };
}

describe('a test notification', () => {
  it('reaches an Android phone encrypted with the phone’s key, with the exact 64-bit id', async () => {
    const phone = testPhone(accountId);
    await activate(phone, 41);
    test.relay.otherwise(notified());
    const answer = await notify();
    expect([answer.status, answer.body]).toEqual([200, { result: 'success', msg: '' }]);
    const { realm_uuid, push_requests } = lastSent();
    expect(realm_uuid).toBe(test.server.realmUuid);
    expect(push_requests).toEqual([
      {
        device_id: 41,
        fcm_priority: 'high',
        payload: { push_account_id: BigInt(accountId), encrypted_data: expect.any(String) },
      },
    ]);
    expect(open(phone, push_requests[0])).toEqual({
      plaintext: {
        type: 'test',
        time: test.now / 1000,
        realm_url: 'https://chat.example.com',
        realm_name: 'Example',
        user_id: ada.userId,
      },
      bytes: 512,
    });
  });

  it('reaches an iPhone with the alert that its notification extension needs', async () => {
    const phone = testPhone('-3', { token_kind: 'apns' });
    await activate(phone, 42);
    test.relay.otherwise(notified());
    await notify();
    const [sent] = lastSent().push_requests;
    expect(sent).toEqual({
      device_id: 42,
      http_headers: { apns_priority: 10, apns_push_type: 'alert' },
      payload: {
        push_account_id: -3,
        encrypted_data: expect.any(String),
        aps: { 'mutable-content': 1, alert: { title: 'New notification' }, sound: 'default' },
      },
    });
    expect(open(phone, sent).plaintext).toMatchObject({ type: 'test' });
  });

  it("never goes to another user's devices, even with the same push_account_id", async () => {
    await activate(testPhone('1'), 101);
    const bob = await test.addAccount('bob@example.com');
    const before = test.relay.requests.length;
    for (const fields of [{}, { push_account_id: '1' }]) {
      const answer = await test.ask(bob, 'POST', 'mobile_push/e2ee/test_notification', fields);
      expect([answer.status, answer.body.code]).toEqual([400, 'NO_ACTIVE_PUSH_DEVICE']);
    }
    expect(test.relay.requests).toHaveLength(before);
    test.relay.next(registered(102));
    await test.register(bob, testPhone('1').fields);
    await test.settle();
    test.relay.otherwise(notified());
    await test.ask(bob, 'POST', 'mobile_push/e2ee/test_notification');
    expect(lastSent().push_requests.map(({ device_id: id }) => id)).toEqual([102]);
  });

  it('goes to all active devices, or to the named device', async () => {
    for (const id of ['1', '2', '3']) await activate(testPhone(id), Number(id) + 100);
    test.relay.otherwise(notified());
    await notify({ push_account_id: '2' });
    expect(lastSent().push_requests.map(({ device_id: id }) => id)).toEqual([102]);
    test.now += 10_000;
    await notify();
    expect(lastSent().push_requests.map(({ device_id: id }) => id)).toEqual([101, 102, 103]);
  });

  it('goes to the active registration while a replacement is pending or has failed, then to the replacement', async () => {
    const [before, after] = [testPhone('1'), testPhone('1', { token_kind: 'apns' })];
    await activate(before, 41);
    test.relay.next({ status: 503 });
    await test.register(ada, after.fields);
    await test.settle();
    expect(await test.pushDevices(ada)).toEqual({ '1': { status: 'pending', error_code: null } });
    test.relay.next(notified());
    expect((await notify()).status).toBe(200);
    expect(open(before, lastSent().push_requests[0]).plaintext).toMatchObject({ type: 'test' });

    test.now += 10_000;
    test.relay.next(refused(400, 'INVALID_BOUNCER_PUBLIC_KEY'));
    await test.settle();
    expect(await test.pushDevices(ada)).toMatchObject({ '1': { status: 'failed' } });
    test.relay.next(notified());
    expect((await notify()).status).toBe(200);
    expect(lastSent().push_requests).toMatchObject([{ device_id: 41, fcm_priority: 'high' }]);

    test.now += 10_000;
    await activate(after, 43);
    test.relay.next(notified());
    expect((await notify()).status).toBe(200);
    const [sent] = lastSent().push_requests;
    expect(sent).toMatchObject({ device_id: 43, http_headers: {} });
    expect(open(after, sent).plaintext).toMatchObject({ type: 'test' });
  });
});

describe('a device that the relay no longer knows', () => {
  it('is removed, and the phone gets an event and can register again', async () => {
    const phone = testPhone('1');
    await activate(phone, 41);
    await activate(testPhone('2'), 42);
    const events = await test.openQueue(ada);
    // The server sends one request per device until it knows that the relay accepts several devices per request.
    test.relay.next(notified([41]), notified());
    expect((await notify()).status).toBe(200);
    expect(await test.pushDevices(ada)).toEqual({ '2': { status: 'active', error_code: null } });
    expect(await events()).toEqual([
      {
        id: 0,
        type: 'push_device',
        push_account_id: '1',
        status: 'failed',
        error_code: 'NO_ACTIVE_PUSH_DEVICE',
      },
    ]);
    await activate(phone, 43);
    expect(await test.pushDevices(ada)).toMatchObject({
      '1': { status: 'active' },
      '2': { status: 'active' },
    });
  });

  it('stays pending if it has registered again meanwhile', async () => {
    await activate(testPhone('1'), 41);
    test.relay.next({ status: 503 }, notified([41]));
    await test.register(ada, testPhone('1').fields);
    await test.settle();
    expect((await notify()).body.code).toBe('NO_ACTIVE_PUSH_DEVICE');
    expect(await test.pushDevices(ada)).toEqual({ '1': { status: 'pending', error_code: null } });
    test.now += 1000;
    test.relay.next(registered(44));
    await test.settle();
    expect(await test.pushDevices(ada)).toEqual({ '1': { status: 'active', error_code: null } });
  });
});

describe('test notifications', () => {
  async function expectRefused(seconds: number, fields: Record<string, string> = {}): Promise<void> {
    const { status, headers, body } = await notify(fields);
    expect([status, body.code, body['retry-after'], headers['retry-after']]).toEqual([
      429,
      'RATE_LIMIT_HIT',
      seconds,
      String(seconds),
    ]);
  }

  it('are limited to one in ten seconds for each device, even across a restart', async () => {
    await activate(testPhone('1'), 41);
    await activate(testPhone('2'), 42);
    test.relay.otherwise(notified());
    expect((await notify({ push_account_id: '1' })).status).toBe(200);
    await expectRefused(10, { push_account_id: '1' });
    expect((await notify({ push_account_id: '2' })).status).toBe(200);
    await test.stop();
    await test.boot();
    test.now += 9999;
    await expectRefused(1, { push_account_id: '1' });
    await expectRefused(1);
    const sent = test.relay.requests.length;
    test.now += 1;
    expect((await notify({ push_account_id: '1' })).status).toBe(200);
    expect(test.relay.requests).toHaveLength(sent + 1);
  });

  it('are limited to twenty in an hour for each user, even across a restart', async () => {
    await activate(testPhone('1'), 41);
    test.relay.otherwise(notified());
    for (let count = 0; count < 20; count += 1) {
      expect((await notify()).status).toBe(200);
      test.now += 10_000;
    }
    await test.stop();
    await test.boot();
    await expectRefused(3600 - 200);
    test.now += (3600 - 200) * 1000 - 1;
    await expectRefused(1);
    test.now += 1;
    expect((await notify()).status).toBe(200);
    await expectRefused(10);
  });
});
