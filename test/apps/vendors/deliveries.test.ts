import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DeliveryLog } from '#vendors/deliveries/delivery-log.js';
import {
  ApnsClient,
  getAccessToken,
  getDeliveries,
  getStatistics,
  sendToFcm,
  startTestVendors,
  type TestVendors,
} from './vendor-clients.js';

describe('the list of deliveries', () => {
  let test: TestVendors;

  beforeEach(async () => {
    test = await startTestVendors();
  });
  afterEach(() => test.close());

  it('is empty at first', async () => {
    expect(await getDeliveries(test)).toEqual([]);
  });

  it('shows the deliveries of both vendors in order of arrival', async () => {
    const accessToken = await getAccessToken(test);
    const apns = await ApnsClient.connect(test);
    await sendToFcm(test, { accessToken, body: { message: { token: 'one' } } });
    await apns.send('02');
    await sendToFcm(test, { accessToken, body: { message: { token: 'three' } } });
    apns.close();
    expect((await getDeliveries(test)).map(({ vendor, token }) => [vendor, token])).toEqual([
      ['fcm', 'one'],
      ['apns', '02'],
      ['fcm', 'three'],
    ]);
  });

  it('matches APNs tokens case-insensitively, and FCM tokens exactly', async () => {
    const accessToken = await getAccessToken(test);
    const apns = await ApnsClient.connect(test);
    await apns.send('C0ffEE');
    apns.close();
    await sendToFcm(test, { accessToken, body: { message: { token: 'C0ffEE:x' } } });
    expect(await getDeliveries(test, 'c0FFee')).toMatchObject([{ vendor: 'apns', token: 'C0ffEE' }]);
    expect(await getDeliveries(test, 'c0ffee:x')).toEqual([]);
    expect(await getDeliveries(test, 'C0ffEE:x')).toHaveLength(1);
    expect(await getDeliveries(test, 'other')).toEqual([]);
  });

  it('shows 64-bit integers unchanged', async () => {
    const apns = await ApnsClient.connect(test);
    await apns.send('aa', {}, '{"aps":{}, "push_account_id": 9223372036854775807, "tiny": 1e-400}');
    apns.close();
    const text = await (await fetch(`${test.vendors.urls.http}/deliveries?token=aa`)).text();
    expect(text).toContain('"push_account_id": 9223372036854775807, "tiny": 1e-400');
  });

  it('is valid JSON even if it is longer than one chunk', async () => {
    const accessToken = await getAccessToken(test);
    const data = { text: 'é"\\\u2028'.repeat(400) };
    for (let index = 0; index < 60; index += 1) {
      await sendToFcm(test, { accessToken, body: { message: { token: `t${index}`, data } } });
    }
    const deliveries = await getDeliveries(test);
    expect(deliveries.map(({ token }) => token)).toEqual(
      Array.from({ length: 60 }, (_, index) => `t${index}`),
    );
    expect(deliveries.at(-1)?.body).toEqual({ message: { token: 't59', data } });
  });

  it('is emptied by DELETE', async () => {
    const accessToken = await getAccessToken(test);
    await sendToFcm(test, { accessToken, body: { message: { token: 'one' } } });
    const response = await fetch(`${test.vendors.urls.http}/deliveries`, { method: 'DELETE' });
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ deleted: 1 });
    expect(await getDeliveries(test)).toEqual([]);
    expect(await getStatistics(test)).toMatchObject({ deliveries: { kept: 0, forgotten: 0 } });
  });

  it('refuses other methods and names the allowed methods', async () => {
    const response = await fetch(`${test.vendors.urls.http}/deliveries`, { method: 'POST' });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('GET, DELETE');
    expect(await response.json()).toEqual({ error: '/deliveries accepts GET, DELETE, not POST' });
  });
});

describe('the delivery log', () => {
  const delivery = (token: string, bodyText: string) =>
    ({ vendor: 'fcm', token, headers: {}, bodyText, receivedAtMilliseconds: 0 }) as const;

  it('keeps the newest 200,000 deliveries', () => {
    const log = new DeliveryLog();
    for (let index = 0; index < 450_000; index += 1) log.add(delivery(String(index), '{}'));
    expect(log.kept).toBe(200_000);
    expect(log.forgotten).toBe(250_000);
    const kept = log.list();
    expect(kept).toHaveLength(200_000);
    expect([kept[0]?.token, kept.at(-1)?.token]).toEqual(['250000', '449999']);
  });

  it('keeps at most 256 Mi characters of bodies', () => {
    const log = new DeliveryLog();
    const mebi = 'x'.repeat(1024 * 1024);
    for (let index = 0; index < 260; index += 1) log.add(delivery(String(index), mebi));
    expect(log.kept).toBe(256);
    expect(log.list()[0]?.token).toBe('4');
    log.clear();
    log.add(delivery('again', mebi));
    expect(log.kept).toBe(1);
  });
});
