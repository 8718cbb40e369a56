import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  getAccessToken,
  getDeliveries,
  sendToFcm,
  startTestVendors,
  type TestVendors,
} from './vendor-clients.js';

interface GoogleAnswer {
  readonly error: { code: number; status: string; message: string; details?: { '@type': string }[] };
}

const fcmError = (errorCode: string) => ({
  '@type': 'type.googleapis.com/google.firebase.fcm.v1.FcmError',
  errorCode,
});
const violation = (field: string) => ({
  '@type': 'type.googleapis.com/google.rpc.BadRequest',
  fieldViolations: [{ field, description: expect.any(String) }],
});

describe('FCM messages:send', () => {
  let test: TestVendors;
  let accessToken: string;

  beforeAll(async () => {
    test = await startTestVendors();
    accessToken = await getAccessToken(test);
  });
  afterAll(() => test.close());

  const send = (message: object, rest: object = {}) =>
    sendToFcm(test, { accessToken, body: { message, ...rest } });

  it('accepts a data message to a token, and returns the name of the message', async () => {
    const message = { token: 'tok:en-1_x', data: { a: 'b' }, android: { priority: 'high', ttl: '86400s' } };
    const response = await send(message);
    expect(response.status).toBe(200);
    const project = test.vendors.credentials.fcmProjectId;
    expect(await response.json()).toEqual({
      name: expect.stringMatching(new RegExp(`^projects/${project}/messages/0:\\d+%[0-9a-f]+$`)),
    });
    const [delivery, ...others] = await getDeliveries(test, 'tok:en-1_x');
    expect(others).toEqual([]);
    expect(delivery).toMatchObject({ vendor: 'fcm', token: 'tok:en-1_x', body: { message } });
    expect(delivery?.headers['content-type']).toBe('application/json');
    expect(delivery?.received_at).toBe(test.clock.milliseconds);
  });

  it.each([
    [{ topic: 'news' }, 'news'],
    [{ condition: "'a' in topics" }, "'a' in topics"],
    [{ fid: 'fid-1' }, 'fid-1'],
  ])('accepts the target %j', async (target, token) => {
    expect((await send(target)).status).toBe(200);
    expect(await getDeliveries(test, token)).toHaveLength(1);
  });

  it.each(['high', 'normal', 'HIGH', 'NORMAL'])('accepts the priority %s', async (priority) => {
    expect((await send({ token: 't', android: { priority } })).status).toBe(200);
  });

  it('accepts fields in lowerCamelCase, null for absent fields, and the limits of ttl', async () => {
    for (const android of [
      { collapseKey: 'k', directBootOk: true },
      { collapse_key: 'k', restricted_package_name: 'p' },
      { ttl: '0s' },
      { ttl: '2419200s' },
      { ttl: '1.5s' },
      null,
    ]) {
      expect((await send({ token: 't', android, data: null, topic: null })).status).toBe(200);
    }
  });

  it('accepts at most 4096 bytes of data, or 2048 for topics', async () => {
    const data = (bytes: number) => ({ key: 'x'.repeat(bytes - 3) });
    expect((await send({ token: 't', data: data(4096) })).status).toBe(200);
    expect((await send({ token: 't', data: data(4097) })).status).toBe(400);
    expect((await send({ token: 't', data: { key: 'é'.repeat(2047) } })).status).toBe(400);
    expect((await send({ topic: 't', data: data(2048) })).status).toBe(200);
    expect((await send({ topic: 't', data: data(2049) })).status).toBe(400);
  });

  it('validates a validate-only message without delivering it', async () => {
    const response = await send({ token: 'dry' }, { validate_only: true });
    expect(response.status).toBe(200);
    expect((await response.json()) as object).toHaveProperty('name');
    expect(await getDeliveries(test, 'dry')).toEqual([]);
    expect((await send({ token: 'dry', data: { from: 'x' } }, { validateOnly: true })).status).toBe(400);
  });

  it('accepts either intent of AndroidConfigV2', async () => {
    const notification = { title: 'New notification' };
    for (const android_v2 of [
      { remote_notification: { mutable_content: true, use_as_v1_data_message: true, notification } },
      { remoteNotification: { notification }, collapseKey: 'k', ttl: '60s' },
      { background_sync: {}, data: { a: 'b' }, direct_boot_ok: true },
      null,
    ]) {
      expect((await send({ token: 't', android_v2 })).status).toBe(200);
    }
  });

  it('refuses the registration token of an installation that has received a message by its id', async () => {
    const fid = 'cAAAAAAAAAAAAAAAAAAAA1';
    const toToken = { token: `${fid}:APA91b` };
    expect((await send(toToken)).status).toBe(200);
    expect((await send({ fid }, { validate_only: true })).status).toBe(200);
    expect((await send(toToken)).status).toBe(200);
    expect((await send({ token: fid })).status).toBe(200);
    const refused = await send(toToken);
    expect(refused.status).toBe(404);
    expect(await refused.json()).toMatchObject({ error: { details: [fcmError('UNREGISTERED')] } });
    expect((await send({ fid })).status).toBe(200);
    expect((await send({ token: 'cBBBBBBBBBBBBBBBBBBBB1:APA91b' })).status).toBe(200);
  });

  const v2 = (android_v2: object, more: object = {}) => ({ token: 't', android_v2, ...more });
  const found = [
    ['both android and android_v2', v2({ background_sync: {} }, { android: {} }), 'message.android_v2'],
    ['no intent', v2({ ttl: '1s' }), 'message.android_v2'],
    [
      'two intents',
      v2({ background_sync: {}, remote_notification: { notification: {} } }),
      'message.android_v2',
    ],
    [
      'an urgent intent without a notification',
      v2({ remote_notification: { mutable_content: true } }),
      'message.android_v2.remote_notification.notification',
    ],
    ['no target', {}, 'message'],
    ['an empty token', { token: '' }, 'message.token'],
    ['an empty condition', { condition: '' }, 'message.condition'],
    ['a topic with a space', { topic: 'a b' }, 'message.topic'],
    ['the reserved key from', { token: 't', data: { from: 'x' } }, 'message.data'],
    ['the reserved key message_type', { token: 't', data: { message_type: 'x' } }, 'message.data'],
    ['a key that starts with google.', { token: 't', data: { 'google.x': 'x' } }, 'message.data'],
    [
      'a key that starts with gcm.notification.',
      { token: 't', data: { 'gcm.notification.x': 'x' } },
      'message.data',
    ],
    ['a ttl of more than 28 days', { token: 't', android: { ttl: '2419201s' } }, 'message.android.ttl'],
    ['too much data', { token: 't', data: { k: 'x'.repeat(4096) } }, 'message.data'],
  ] as const;
  it.each(found)('refuses a message with %s with an FcmError', async (_what, message, field) => {
    const response = await send(message);
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({
      error: {
        code: 400,
        status: 'INVALID_ARGUMENT',
        message: expect.any(String),
        details: [fcmError('INVALID_ARGUMENT'), violation(field)],
      },
    });
  });

  const unreadable = [
    ['two targets', { token: 't', topic: 'x' }, 'message'],
    ['a number for a token', { token: 5 }, 'message.token'],
    ['a number in data', { token: 't', data: { a: 'x', b: 1 } }, 'message.data[1].value'],
    ['a list for data', { token: 't', data: [] }, 'message.data'],
    ['an unknown field', { token: 't', tokens: [] }, 'message'],
    ['an unknown android field', { token: 't', android: { sound: 'x' } }, 'message.android'],
    ['a string for android', { token: 't', android: 'x' }, 'message.android'],
    ['an unknown priority', { token: 't', android: { priority: 'urgent' } }, 'message.android.priority'],
    ['a ttl without a unit', { token: 't', android: { ttl: '60' } }, 'message.android.ttl'],
    ['a negative ttl', { token: 't', android: { ttl: '-1s' } }, 'message.android.ttl'],
    ['a number for ttl', { token: 't', android: { ttl: 60 } }, 'message.android.ttl'],
    [
      'a number for collapse_key',
      { token: 't', android: { collapse_key: 1 } },
      'message.android.collapse_key',
    ],
  ] as const;
  it.each(unreadable)('refuses a message with %s without an FcmError', async (_what, message, field) => {
    const response = await send(message);
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({
      error: {
        code: 400,
        status: 'INVALID_ARGUMENT',
        message: expect.stringMatching(/^Invalid (value|JSON payload)/),
        details: [violation(field)],
      },
    });
  });

  it.each([
    ['not JSON', '{'],
    ['a list', '[]'],
    ['empty', ''],
    ['without a message', '{}'],
    ['with a list for a message', '{"message":[]}'],
    ['with an unknown field', '{"message":{"token":"t"},"dry_run":true}'],
    ['with a string for validate_only', '{"message":{"token":"t"},"validate_only":"yes"}'],
    ['longer than 64 KiB', JSON.stringify({ message: { token: 'x'.repeat(65_536) } })],
  ])('refuses a body that is %s', async (_what, body) => {
    const response = await sendToFcm(test, { accessToken, body });
    expect(response.status).toBe(400);
    expect(((await response.json()) as GoogleAnswer).error).toMatchObject({
      code: 400,
      status: 'INVALID_ARGUMENT',
    });
  });

  it('refuses a body that is not UTF-8', async () => {
    const project = test.vendors.credentials.fcmProjectId;
    const response = await fetch(`${test.vendors.urls.fcm}/v1/projects/${project}/messages:send`, {
      method: 'POST',
      headers: { authorization: `Bearer ${accessToken}` },
      body: Buffer.from('{"message":{"token":"\xff"}}', 'latin1'),
    });
    expect(response.status).toBe(400);
  });

  it.each([
    ['no access token', undefined],
    ['an access token that was never issued', 'ya29.nonsense'],
  ])('refuses %s before it reads the body', async (_what, token) => {
    const response = await sendToFcm(test, { body: '{', ...(token !== undefined && { accessToken: token }) });
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toMatch(/^Bearer /);
    const { error } = (await response.json()) as GoogleAnswer;
    expect(error).toMatchObject({ code: 401, status: 'UNAUTHENTICATED' });
    expect(error.details?.map((detail) => detail['@type'])).toEqual([
      'type.googleapis.com/google.rpc.ErrorInfo',
    ]);
  });

  it('refuses an access token after an hour', async () => {
    const shortLived = await getAccessToken(test);
    const before = test.clock.milliseconds;
    test.clock.milliseconds = before + 3_599_999;
    expect(
      (await sendToFcm(test, { accessToken: shortLived, body: { message: { token: 't' } } })).status,
    ).toBe(200);
    test.clock.milliseconds = before + 3_600_000;
    expect(
      (await sendToFcm(test, { accessToken: shortLived, body: { message: { token: 't' } } })).status,
    ).toBe(401);
    test.clock.milliseconds = before;
    accessToken = await getAccessToken(test);
  });

  it('refuses a project of another account', async () => {
    const response = await sendToFcm(test, {
      accessToken,
      project: 'another-project',
      body: { message: { token: 't' } },
    });
    expect(response.status).toBe(403);
    const { error } = (await response.json()) as GoogleAnswer;
    expect(error).toMatchObject({ code: 403, status: 'PERMISSION_DENIED' });
    expect(error.message).toContain("Permission 'cloudmessaging.messages.create' denied");
    expect(error.details?.map((detail) => detail['@type'])).toEqual([
      'type.googleapis.com/google.rpc.ErrorInfo',
    ]);
  });

  it('responds with 404 to an impossible project, another method, or another path', async () => {
    const { http } = test.vendors.urls;
    const headers = { authorization: `Bearer ${accessToken}` };
    for (const response of [
      await sendToFcm(test, { accessToken, project: 'X', body: { message: { token: 't' } } }),
      await fetch(`${http}/v1/projects/${test.vendors.credentials.fcmProjectId}/messages:send`, { headers }),
      await fetch(`${http}/v1/projects/x/messages:sendAll`, { method: 'POST', headers, body: '{}' }),
    ]) {
      expect(response.status).toBe(404);
      expect(await response.json()).toEqual({
        error: { code: 404, status: 'NOT_FOUND', message: 'Requested entity was not found.' },
      });
    }
    const unknown = await fetch(`${http}/batch`, { method: 'POST' });
    expect(unknown.status).toBe(404);
    expect(((await unknown.json()) as { error: string }).error).toContain('there is nothing at POST /batch');
  });
});
