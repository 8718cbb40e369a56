import { createPublicKey, randomUUID, verify } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { webPushPolicy } from '#relay/deliveries/policy/vendor-policy.js';
import {
  type DeliveriesUnderTest,
  encryptedData,
  fcmRequest,
  pushAccountId,
  type RunningVendors,
  realmUuid,
  startDeliveriesUnderTest,
} from './deliveries-under-test.js';
import { WebPushPhone } from './web-push-phone.js';

let relay: DeliveriesUnderTest;
let phones = 0;

const webPushApps = (_vendors: RunningVendors): object => ({
  webpush: [{ name: 'web', contact: 'mailto:operator@relay.example', hosts: '*' }],
});

async function startRelay(environment: Record<string, string> = {}): Promise<DeliveriesUnderTest> {
  const { startVendors } = await import('@waxwing/vendors');
  const { mkdtempSync } = await import('node:fs');
  const { tmpdir } = await import('node:os');
  const vendors = await startVendors({ dataDir: mkdtempSync(`${tmpdir()}/waxwing-webpush-`) });
  stopVendors.push(() => vendors.close());
  return startDeliveriesUnderTest({
    vendors,
    apps: webPushApps,
    environment: {
      RELAY_CA_FILE: vendors.credentials.caFile,
      RELAY_WEB_PUSH_PRIVATE_HOSTS: new URL(vendors.urls.webPush).host,
      ...environment,
    },
  });
}
const stopVendors: (() => Promise<void>)[] = [];

beforeAll(async () => {
  relay = await startRelay();
});
afterEach(() => relay.faults([]));
afterAll(async () => {
  await relay.close();
  for (const stop of stopVendors) await stop();
});

function newPhone(): WebPushPhone {
  phones += 1;
  return new WebPushPhone(`${relay.vendors.urls.webPush}/push/phone-${phones}`);
}

/** Resolves to the pushes that arrived for a phone, with headers and decrypted bodies. */
async function opened(phone: WebPushPhone) {
  const arrived = await relay.arrived(phone.endpoint);
  return arrived.map(({ headers, body, vendor }) => ({
    vendor,
    headers,
    content: phone.open(Buffer.from(body as unknown as string, 'base64')),
  }));
}

describe('a notification for a Web Push device', () => {
  it("arrives encrypted with FCM's fields in the older generation", async () => {
    const phone = newPhone();
    const id = await relay.addWebPush(phone.token);
    const { body } = await relay.notify([fcmRequest(id, { ttl_seconds: 3600, collapse_id: 'topic-1' })]);
    expect(body.results).toMatchObject([{ status: 'sent' }]);
    expect(body).toMatchObject({ android_successfully_sent_count: 1, delete_device_ids: [] });
    const [push, ...others] = await opened(phone);
    expect(others).toEqual([]);
    expect(JSON.parse(push?.content ?? '')).toEqual({
      push_account_id: String(pushAccountId),
      encrypted_data: encryptedData,
    });
    expect(push).toMatchObject({ vendor: 'webpush', headers: { urgency: 'high' } });
    expect(push?.headers['content-encoding']).toBe('aes128gcm');
    expect(push?.headers.topic).toMatch(/^[\w-]{32}$/);
    expect(Number(push?.headers.ttl)).toBeGreaterThan(3590);
    expect(Number(push?.headers.ttl)).toBeLessThanOrEqual(3600);
  });

  it('arrives with the push key id in the newer generation', async () => {
    const phone = newPhone();
    const tokenId = await relay.addByToken('webpush', phone.token);
    const request = {
      token_id: tokenId,
      fcm_priority: 'normal',
      payload: { push_key_id: 77, encrypted_data: encryptedData },
    };
    const { body } = await relay.notify([request]);
    expect(body.results).toMatchObject([{ status: 'sent' }]);
    const [push] = await opened(phone);
    expect(JSON.parse(push?.content ?? '')).toEqual({ push_key_id: '77', encrypted_data: encryptedData });
    expect(push?.headers.urgency).toBe('normal');
    expect(push?.headers.topic).toBeUndefined();
  });

  it('is signed with the VAPID key that the relay publishes, and names the operator', async () => {
    const phone = newPhone();
    const id = await relay.addWebPush(phone.token);
    await relay.notify([fcmRequest(id)]);
    const [push] = await opened(phone);
    const [, token = '', key = ''] = /^vapid t=(\S+), k=(\S+)$/.exec(push?.headers.authorization ?? '') ?? [];
    const [published] = await relay.ring.keeper.look(({ vapidKeys }) => vapidKeys);
    expect(published).toMatchObject({ name: 'web', publicKey: key });
    const [header = '', claims = '', signature = ''] = token.split('.');
    const read = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString());
    expect(read(header)).toEqual({ typ: 'JWT', alg: 'ES256' });
    const { aud, exp, sub } = read(claims);
    expect(aud).toBe(relay.vendors.urls.webPush);
    expect(sub).toBe('mailto:operator@relay.example');
    expect(exp * 1000).toBeLessThanOrEqual(Date.now() + 24 * 60 * 60_000);
    expect(exp * 1000).toBeGreaterThan(Date.now());
    const point = Buffer.from(key, 'base64url');
    const jwk = {
      kty: 'EC',
      crv: 'P-256',
      x: point.subarray(1, 33).toString('base64url'),
      y: point.subarray(33).toString('base64url'),
    };
    const publicKey = createPublicKey({ key: jwk, format: 'jwk' });
    const isSigned = verify(
      'sha256',
      Buffer.from(`${header}.${claims}`),
      { key: publicKey, dsaEncoding: 'ieee-p1363' },
      Buffer.from(signature, 'base64url'),
    );
    expect(isSigned).toBe(true);
  });

  it('is signed once per push service, not once per notification', async () => {
    const phone = newPhone();
    const id = await relay.addWebPush(phone.token);
    await relay.notify([fcmRequest(id), fcmRequest(id), fcmRequest(id)]);
    const headers = (await opened(phone)).map((push) => push.headers.authorization);
    expect(headers.length).toBe(3);
    expect(new Set(headers).size).toBe(1);
  });

  it('is rejected if it is addressed to APNs', async () => {
    const phone = newPhone();
    const tokenId = await relay.addByToken('webpush', phone.token);
    const request = {
      token_id: tokenId,
      http_headers: { apns_priority: 10, apns_push_type: 'alert' },
      payload: { push_key_id: 77, encrypted_data: encryptedData, aps: {} },
    };
    const { body } = await relay.notify([request]);
    expect(body.results).toMatchObject([{ status: 'rejected', reason: 'WRONG_KIND' }]);
  });

  it('is rejected without a request if it is too long for a push service', async () => {
    const phone = newPhone();
    const id = await relay.addWebPush(phone.token);
    const payload = {
      push_account_id: pushAccountId,
      encrypted_data: Buffer.alloc(2970, 1).toString('base64'),
    };
    const { body } = await relay.notify([fcmRequest(id, { payload })]);
    expect(body.results).toMatchObject([
      { status: 'rejected', reason: 'PAYLOAD_TOO_LARGE', fault: 'server' },
    ]);
    expect(await opened(phone)).toEqual([]);
  });
});

it('a notification for a subscription whose public key is not on the curve is rejected', async () => {
  const point = Buffer.concat([Buffer.from([4]), Buffer.alloc(64, 1)]).toString('base64url');
  const { token } = newPhone();
  const id = await relay.addWebPush(token.replace(/"p256dh":"[^"]+"/, `"p256dh":"${point}"`));
  const { body } = await relay.notify([fcmRequest(id)]);
  expect(body.results).toMatchObject([
    { status: 'rejected', reason: 'ENDPOINT_REFUSED', fault: 'registration' },
  ]);
  expect((await relay.device(id)).expired_at).toBeNull();
});

it('the relay reports whether it can deliver to Web Push devices', async () => {
  const { serverId = '' } = relay.server ?? {};
  const { apps } = await relay.deliveries.appsOf({ serverId, realmId: relay.realmId, realmUuid });
  expect(apps).toEqual([{ vendor: 'webpush', devices: expect.any(Number), trouble: null }]);
});

describe('the response of a push service', () => {
  it.each([
    [404, 'SUBSCRIPTION_UNKNOWN', { status: 'gone' }],
    [410, 'SUBSCRIPTION_GONE', { status: 'gone' }],
    [413, 'BODY_TOO_LARGE', { status: 'rejected', fault: 'server' }],
    [400, 'BAD_REQUEST', { status: 'rejected', fault: 'registration' }],
    [301, 'UNEXPECTED_ANSWER', { status: 'rejected', fault: 'vendor' }],
    [401, 'UNAUTHORIZED', { status: 'queued' }],
    [403, 'FORBIDDEN', { status: 'queued' }],
    [429, 'TOO_MANY_REQUESTS', { status: 'queued' }],
    [500, 'SERVICE_UNAVAILABLE', { status: 'queued' }],
    [503, 'SERVICE_UNAVAILABLE', { status: 'queued' }],
  ])('with status %i (%s) has its outcome, and a retry arrives', async (status, reason, expected) => {
    const phone = newPhone();
    const id = await relay.addWebPush(phone.token);
    await relay.faults([{ vendor: 'webpush', token: phone.endpoint, status, reason: 'Scripted', times: 1 }]);
    const notificationId = randomUUID();
    const { body } = await relay.notify([fcmRequest(id, { notification_id: notificationId })]);
    expect(body.results).toMatchObject([{ ...expected, reason }]);
    expect(body.delete_device_ids).toEqual(expected.status === 'gone' ? [id] : []);
    const device = await relay.device(id);
    expect(device.expired_at !== null).toBe(expected.status === 'gone');
    if (expected.status !== 'queued') return;
    await expect(relay.settled(notificationId)).resolves.toMatchObject({ status: 'sent', attempts: 2 });
    expect(await opened(phone)).toHaveLength(1);
  });

  it('has a policy for every reason', () => {
    expect(Object.keys(webPushPolicy).sort()).toEqual([
      'BAD_REQUEST',
      'BODY_TOO_LARGE',
      'FORBIDDEN',
      'SERVICE_UNAVAILABLE',
      'SUBSCRIPTION_GONE',
      'SUBSCRIPTION_UNKNOWN',
      'TOO_MANY_REQUESTS',
      'UNAUTHORIZED',
      'UNEXPECTED_ANSWER',
    ]);
  });

  it.each(['before', 'after'])(
    'is missing after a reset %s processing, and a retry arrives',
    async (reset) => {
      const phone = newPhone();
      const id = await relay.addWebPush(phone.token);
      await relay.faults([{ vendor: 'webpush', token: phone.endpoint, reset, times: 1 }]);
      const notificationId = randomUUID();
      await relay.notify([fcmRequest(id, { notification_id: notificationId })]);
      await expect(relay.settled(notificationId)).resolves.toMatchObject({ status: 'sent' });
      const pushes = await opened(phone);
      expect(pushes.length).toBeGreaterThanOrEqual(1);
      expect(new Set(pushes.map(({ content }) => content)).size).toBe(1);
    },
  );

  it('is counted by vendor', async () => {
    const text = await relay.metrics.text();
    expect(text).toMatch(/waxwing_deliveries_total\{vendor="webpush",outcome="sent",reason=""\} \d+/);
    expect(text).toMatch(/reason="SUBSCRIPTION_GONE"/);
  });
});

it('a subscription that is bound to another VAPID key keeps its device', async () => {
  const phone = newPhone();
  const id = await relay.addWebPush(phone.token);
  await relay.notify([fcmRequest(id)]);
  const other = await startDeliveriesUnderTest({
    vendors: relay.vendors,
    apps: webPushApps,
    environment: {
      RELAY_CA_FILE: relay.vendors.credentials.caFile,
      RELAY_WEB_PUSH_PRIVATE_HOSTS: new URL(relay.vendors.urls.webPush).host,
    },
  });
  try {
    const bound = await other.addWebPush(phone.token);
    const { body } = await other.notify([fcmRequest(bound)]);
    expect(body.results).toMatchObject([{ status: 'queued', reason: 'FORBIDDEN' }]);
    expect((await other.device(bound)).expired_at).toBeNull();
    // The refused subscription does not pause other notifications.
    const second = newPhone();
    const free = await other.addWebPush(second.token);
    expect((await other.notify([fcmRequest(free)])).body.results).toMatchObject([{ status: 'sent' }]);
  } finally {
    await other.close();
  }
});

it('a notification for a realm without a Web Push app is rejected with a reason', async () => {
  const phone = newPhone();
  const id = await relay.addWebPush(phone.token);
  relay.writeApps({
    webpush: [{ name: 'web', contact: 'https://relay.example', hosts: '*', realms: [randomUUID()] }],
  });
  await relay.reloadCredentials();
  const { body } = await relay.notify([fcmRequest(id)]);
  expect(body.results).toMatchObject([
    { status: 'rejected', reason: 'APP_NOT_SERVED', fault: 'relay-configuration' },
  ]);
  relay.writeApps(webPushApps(relay.vendors));
  await relay.reloadCredentials();
  expect((await relay.notify([fcmRequest(id)])).body.results).toMatchObject([{ status: 'sent' }]);
});
