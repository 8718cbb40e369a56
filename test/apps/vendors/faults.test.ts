import { performance } from 'node:perf_hooks';
import { describe, expect, it } from 'vitest';
import { appleReasons } from '#vendors/reasons/apple-reasons.js';
import { googleErrors } from '#vendors/reasons/google-errors.js';
import {
  accessToken,
  connectClient,
  connectWarm,
  script,
  send,
  test,
  useScriptedVendors,
} from './scripted-vendors.js';
import {
  deviceToken,
  getAccessToken,
  getDeliveries,
  getStatistics,
  makeAssertion,
  putFaults,
  requestAccessToken,
  sendToFcm,
  startTestVendors,
} from './vendor-clients.js';

useScriptedVendors();

describe('a scripted response from APNs', () => {
  it.each(Object.entries(appleReasons))('can be %s', async (reason, status) => {
    const apns = await connectClient();
    await script({ vendor: 'apns', reason });
    const answer = await apns.send();
    expect(answer.status).toBe(status);
    const timestamp = status === 410 ? { timestamp: test.clock.milliseconds } : {};
    expect(answer.body).toEqual({ reason, ...timestamp });
    expect(answer.headers['apns-id']).toBeDefined();
    expect(await getDeliveries(test)).toEqual([]);
  });

  it('can have a default reason, an unknown reason, or any other body', async () => {
    const apns = await connectClient();
    await script({ vendor: 'apns', status: 410, timestamp: 1_700_000_000_000 });
    expect(await apns.send()).toMatchObject({
      status: 410,
      body: { reason: 'Unregistered', timestamp: 1_700_000_000_000 },
    });
    await script({ vendor: 'apns', status: 400, reason: 'Novelty' });
    expect(await apns.send()).toMatchObject({ status: 400, body: { reason: 'Novelty' } });
    await script({ vendor: 'apns', status: 502, body: '"<html>"' });
    expect(await apns.send()).toMatchObject({ status: 502, body: '<html>' });
  });

  it('can have a Retry-After header in seconds or as a date', async () => {
    const apns = await connectClient();
    await script({ vendor: 'apns', status: 429, retry_after: 30 });
    expect((await apns.send()).headers['retry-after']).toBe('30');
    await script({ vendor: 'apns', status: 503, retry_after: 'Wed, 21 Oct 2026 07:28:00 GMT' });
    expect((await apns.send()).headers['retry-after']).toBe('Wed, 21 Oct 2026 07:28:00 GMT');
  });

  it('can be limited to one token, one topic, or one environment', async () => {
    const apns = await connectClient();
    const sandbox = await connectClient('sandbox');
    await script(
      { vendor: 'apns', token: 'ABCD', reason: 'Unregistered' },
      { vendor: 'apns', topic: 'org.example.Other', reason: 'TopicDisallowed' },
      { vendor: 'apns', environment: 'production', token: '1234', reason: 'BadDeviceToken' },
    );
    expect((await apns.send('abcd')).body.reason).toBe('Unregistered');
    expect((await apns.send('abce')).status).toBe(200);
    expect((await apns.send('abce', { 'apns-topic': 'org.example.Other' })).body.reason).toBe(
      'TopicDisallowed',
    );
    expect((await apns.send('1234')).body.reason).toBe('BadDeviceToken');
    expect((await sandbox.send('1234')).status).toBe(200);
  });

  it('does not replace the refusal of an invalid request', async () => {
    const apns = await connectClient();
    await script({ vendor: 'apns', status: 503 });
    expect((await apns.send(deviceToken, { 'apns-topic': undefined })).body.reason).toBe('MissingTopic');
    expect((await apns.send(deviceToken, { authorization: undefined })).body.reason).toBe(
      'MissingProviderToken',
    );
  });
});

describe('a scripted response from FCM', () => {
  it.each(Object.entries(googleErrors))('can be %s', async (reason, { httpStatus, status, isFcmError }) => {
    await script({ vendor: 'fcm', reason });
    const response = await send();
    expect(response.status).toBe(httpStatus);
    const { error } = (await response.json()) as { error: { details?: { errorCode?: string }[] } };
    expect(error).toMatchObject({ code: httpStatus, status });
    expect(error.details?.[0]?.errorCode).toBe(isFcmError ? reason : undefined);
    expect(await getDeliveries(test)).toEqual([]);
  });

  it('can have a default reason, message, field, body and Retry-After', async () => {
    await script({ vendor: 'fcm', status: 404, token: 'gone' });
    expect(await (await send('gone')).json()).toMatchObject({
      error: { details: [{ errorCode: 'UNREGISTERED' }] },
    });
    expect((await send('Gone')).status).toBe(200);
    await script({ vendor: 'fcm', status: 400, message: 'Bad data', field: 'message.data' });
    expect(await (await send()).json()).toMatchObject({
      error: { message: 'Bad data', details: [{}, { fieldViolations: [{ field: 'message.data' }] }] },
    });
    await script({ vendor: 'fcm', status: 502, body: '<html>', retry_after: 5 });
    const response = await send();
    expect([response.status, response.headers.get('retry-after'), await response.text()]).toEqual([
      502,
      '5',
      '<html>',
    ]);
    await script({ vendor: 'fcm', status: 400, reason: 'NOVELTY' });
    expect(await (await send()).json()).toMatchObject({
      error: { code: 400, details: [{ errorCode: 'NOVELTY' }] },
    });
  });

  it('can be limited to a topic', async () => {
    await script({ vendor: 'fcm', token: 'news', reason: 'QUOTA_EXCEEDED' });
    const response = await sendToFcm(test, { accessToken, body: { message: { topic: 'news' } } });
    expect(response.status).toBe(429);
  });
});

describe('a scripted failure of the token endpoint', () => {
  const ask = async () => requestAccessToken(test, await makeAssertion(test));

  it("has Google's format and error codes", async () => {
    await script(
      { vendor: 'oauth', reason: 'invalid_client', times: 1 },
      { vendor: 'oauth', status: 503, retry_after: 1 },
    );
    const refused = await ask();
    expect([refused.status, await refused.json()]).toEqual([
      401,
      { error: 'invalid_client', error_description: 'The OAuth client was not found.' },
    ]);
    const unavailable = await ask();
    expect([unavailable.status, unavailable.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await unavailable.json()).toMatchObject({ error: 'temporarily_unavailable' });
    await script({ vendor: 'oauth', reason: 'invalid_grant', message: 'Account disabled' });
    expect(await (await ask()).json()).toEqual({
      error: 'invalid_grant',
      error_description: 'Account disabled',
    });
    await script({ vendor: 'oauth', status: 502, body: '<html>' });
    expect(await (await ask()).text()).toBe('<html>');
  });

  it('can break the connection', async () => {
    await script({ vendor: 'oauth', reset: 'before' });
    await expect(ask()).rejects.toThrow('fetch failed');
  });

  it('can be an access token with a shorter lifetime', async () => {
    await script({ vendor: 'oauth', expires_in: 5 });
    const { access_token, expires_in } = (await (await ask()).json()) as {
      access_token: string;
      expires_in: number;
    };
    expect(expires_in).toBe(5);
    const body = { message: { token: 't' } };
    expect((await sendToFcm(test, { accessToken: access_token, body })).status).toBe(200);
    test.clock.milliseconds += 5000;
    expect((await sendToFcm(test, { accessToken: access_token, body })).status).toBe(401);
    test.clock.milliseconds -= 5000;
  });
});

describe('fault rules', () => {
  const statuses = async (count: number) => {
    const found: number[] = [];
    for (let index = 0; index < count; index += 1) found.push((await send()).status);
    return found;
  };

  it('apply at most "times" times', async () => {
    await script({ vendor: 'fcm', status: 500, times: 2 }, { vendor: 'fcm', status: 503, times: 1 });
    expect(await statuses(5)).toEqual([500, 500, 503, 200, 200]);
    expect(await getStatistics(test)).toMatchObject({ faults_fired: [2, 1] });
  });

  it('apply to a "rate" of requests, and to the same requests for the same seed', async () => {
    const rules = [{ vendor: 'fcm', status: 503, rate: 0.3 }];
    await putFaults(test, rules, 42);
    const first = await statuses(200);
    const struck = first.filter((status) => status === 503).length;
    expect(struck).toBeGreaterThan(30);
    expect(struck).toBeLessThan(90);
    await putFaults(test, rules, 42);
    expect(await statuses(200)).toEqual(first);
    const shown = await (await fetch(`${test.vendors.urls.http}/faults`)).json();
    expect(shown).toEqual({ rules, seed: 42 });
  });

  it('never apply at rate 0 and always at rate 1', async () => {
    await script({ vendor: 'fcm', status: 500, rate: 0 }, { vendor: 'fcm', status: 503, rate: 1 });
    expect(await statuses(20)).toEqual(Array(20).fill(503));
  });

  it('use the given random numbers for "rate"', async () => {
    const draws = [0.1, 0.9, 0.49, 0.5];
    const own = await startTestVendors({ random: () => draws.shift() ?? 0.99 });
    await putFaults(own, [{ vendor: 'fcm', status: 503, rate: 0.5 }]);
    const token = await getAccessToken(own);
    const found: number[] = [];
    for (let index = 0; index < 4; index += 1) {
      found.push((await sendToFcm(own, { accessToken: token, body: { message: { token: 't' } } })).status);
    }
    expect(found).toEqual([503, 200, 503, 200]);
    await own.close();
  });

  it('apply first if they name the token, then in script order', async () => {
    await script(
      { vendor: 'fcm', status: 500 },
      { vendor: 'fcm', status: 503 },
      { vendor: 'fcm', token: 'tok', status: 404 },
      { vendor: 'fcm', token: 'tok', status: 403 },
    );
    expect((await send('tok')).status).toBe(404);
    expect((await send('other')).status).toBe(500);
  });

  it('do not affect other vendors', async () => {
    await script({ vendor: 'apns', status: 500 });
    expect((await send()).status).toBe(200);
  });

  it('are removed by DELETE', async () => {
    await script({ vendor: 'fcm', status: 500 });
    await fetch(`${test.vendors.urls.http}/faults`, { method: 'DELETE' });
    expect((await send()).status).toBe(200);
    expect(await (await fetch(`${test.vendors.urls.http}/faults`)).json()).toEqual({ rules: [] });
  });
});

describe('latency', () => {
  it('delays responses, adds up, and combines with refusals', async () => {
    const apns = await connectClient();
    await apns.send();
    await script(
      { vendor: 'fcm', latency_ms: 30 },
      { vendor: 'fcm', status: 503, latency_ms: 30 },
      { vendor: 'apns', latency_ms: 40 },
    );
    const beforeFcm = performance.now();
    expect((await send()).status).toBe(503);
    // According to this clock, a timer may fire up to a millisecond early.
    expect(performance.now() - beforeFcm).toBeGreaterThan(58);
    const beforeApns = performance.now();
    expect((await apns.send()).status).toBe(200);
    expect(performance.now() - beforeApns).toBeGreaterThan(38);
  });

  it('delays requests concurrently', async () => {
    const apns = await connectWarm();
    await script({ vendor: 'apns', latency_ms: 500 });
    const before = performance.now();
    await Promise.all(Array.from({ length: 50 }, () => apns.send()));
    // Sequential delays would take 25 seconds.
    expect(performance.now() - before).toBeLessThan(20_000);
  });
});
