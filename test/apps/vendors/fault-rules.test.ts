import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { putFaults, startTestVendors, type TestVendors } from './vendor-clients.js';

describe('PUT /faults', () => {
  let test: TestVendors;

  beforeAll(async () => {
    test = await startTestVendors();
  });
  afterAll(() => test.close());

  const put = (body: string) => fetch(`${test.vendors.urls.http}/faults`, { method: 'PUT', body });
  const shown = async () => (await fetch(`${test.vendors.urls.http}/faults`)).json();

  const refused: [object, RegExp][] = [
    [{}, /^rules\[0\]\.vendor must be "fcm", "apns", "oauth" or "webpush"$/],
    [{ vendor: 'gcm', status: 500 }, /^rules\[0\]\.vendor must be/],
    [{ vendor: 'fcm' }, /^rules\[0\] does nothing: give it a status/],
    [{ vendor: 'fcm', token: 't', rate: 0.5, times: 1 }, /does nothing/],
    [
      { vendor: 'fcm', state: 500 },
      /^rules\[0\]\.state is not a field of a rule; the fields are vendor, token/,
    ],
    [{ vendor: 'fcm', status: 200 }, /\.status must be an integer from 300 to 599/],
    [{ vendor: 'fcm', status: '500' }, /\.status must be an integer/],
    [{ vendor: 'fcm', status: 500, rate: 1.1 }, /\.rate must be a number from 0 to 1/],
    [{ vendor: 'fcm', status: 500, rate: '1' }, /\.rate must be a number from 0 to 1/],
    [{ vendor: 'fcm', status: 500, times: 0 }, /\.times must be an integer from 1/],
    [{ vendor: 'fcm', status: 500, times: 1.5 }, /\.times must be an integer from 1/],
    [{ vendor: 'fcm', status: 500, token: '' }, /\.token must be a string of 1 to 4096 characters/],
    [
      { vendor: 'oauth', status: 500, token: 't' },
      /\.token is not supported for vendor "oauth", only for fcm and apns and webpush/,
    ],
    [{ vendor: 'fcm', status: 500, topic: 't' }, /\.topic is not supported for vendor "fcm"/],
    [
      { vendor: 'fcm', status: 500, environment: 'sandbox' },
      /\.environment is not supported for vendor "fcm"/,
    ],
    [
      { vendor: 'apns', status: 500, environment: 'staging' },
      /\.environment must be "production" or "sandbox"/,
    ],
    [
      { vendor: 'apns', reason: 'Unregisterd' },
      /\.reason "Unregisterd" is not one of BadDeviceToken, .*Shutdown: also set/,
    ],
    [{ vendor: 'fcm', reason: 'Unregistered' }, /\.reason "Unregistered" is not one of INVALID_ARGUMENT/],
    [{ vendor: 'apns', status: 500, reason: 'two words' }, /\.reason must be a name/],
    [{ vendor: 'apns', status: 418 }, /\.status 418 has no default reason: also set a reason or a body/],
    [{ vendor: 'apns', status: 500, timestamp: 1 }, /\.timestamp requires status 410/],
    [{ vendor: 'apns', status: 410, timestamp: -1 }, /\.timestamp must be an integer from 0/],
    [{ vendor: 'apns', retry_after: 1 }, /\.retry_after requires a status or a reason/],
    [{ vendor: 'fcm', latency_ms: 1, message: 'x' }, /\.message requires a status or a reason/],
    [{ vendor: 'fcm', status: 429, retry_after: -1 }, /\.retry_after must be seconds/],
    [{ vendor: 'fcm', status: 429, retry_after: 'a\nb' }, /\.retry_after must be seconds/],
    [{ vendor: 'apns', status: 429, message: 'x' }, /\.message is not supported for vendor "apns"/],
    [{ vendor: 'fcm', latency_ms: 600_001 }, /\.latency_ms must be an integer from 0 to 600000/],
    [{ vendor: 'fcm', reset: 'during' }, /\.reset must be "before", "after" or true/],
    [{ vendor: 'fcm', half_open: false }, /\.half_open must be true/],
    [
      { vendor: 'fcm', reset: 'before', status: 500 },
      /must have only one of status or reason, reset, and half_open/,
    ],
    [{ vendor: 'fcm', reset: 'before', half_open: true }, /must have only one of/],
    [{ vendor: 'fcm', goaway_every: 5 }, /\.goaway_every is not supported for vendor "fcm"/],
    [{ vendor: 'apns', goaway_every: 0 }, /\.goaway_every must be an integer from 1/],
    [
      { vendor: 'apns', goaway_every: 5, token: 'aa' },
      /\.token selects requests, but the rule affects connections/,
    ],
    [{ vendor: 'apns', goaway_every: 5, rate: 0.5 }, /\.rate selects requests/],
    [{ vendor: 'apns', goaway_json: false, status: 500 }, /goaway_json and goaway_code require goaway_every/],
    [{ vendor: 'apns', goaway_code: 14, goaway_every: 1 }, /\.goaway_code must be an integer from 0 to 13/],
    [{ vendor: 'apns', goaway_every: 1, goaway_json: 'no' }, /\.goaway_json must be true or false/],
    [{ vendor: 'apns', max_concurrent_streams: 0 }, /\.max_concurrent_streams must be an integer from 1/],
    [
      { vendor: 'apns', mint_interval_seconds: 5, environment: 'sandbox' },
      /cannot be combined with mint_interval_seconds/,
    ],
    [
      { vendor: 'apns', max_concurrent_streams: 5, times: 1 },
      /\.times counts requests or GOAWAYs, and not the effect of max_concurrent_streams: split it into two rules/,
    ],
    [
      { vendor: 'apns', mint_interval_seconds: 1200, times: 1 },
      /\.times .* not the effect of mint_interval_seconds/,
    ],
    [{ vendor: 'oauth', expires_in: 60, status: 503, times: 1 }, /\.times .* not the effect of expires_in/],
    [
      { vendor: 'apns', goaway_every: 5, latency_ms: 5, times: 1 },
      /\.times counts requests or GOAWAYs, and not both: split it into two rules/,
    ],
    [{ vendor: 'oauth', expires_in: 3601 }, /\.expires_in must be an integer from 1 to 3600/],
  ];
  it.each(refused)('refuses %j with the reason', async (rule, error) => {
    const before = await shown();
    const response = await putFaults(test, [rule]);
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({ error: expect.stringMatching(error) });
    expect(await shown()).toEqual(before);
  });

  it.each([
    ['{', /^the body is not JSON/],
    ['[]', /^the body must be a JSON object with an array "rules"/],
    ['{"rules":{}}', /an array "rules"/],
    ['{"rules":[5]}', /^rules\[0\] must be an object/],
    ['{"rules":[],"rule":1}', /^rule is unknown/],
    ['{"rules":[],"seed":0.5}', /^seed must be an integer/],
  ])('refuses the body %s', async (body, error) => {
    const response = await put(body);
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({ error: expect.stringMatching(error) });
  });

  it('keeps the active rules if a new rule is invalid, and names each invalid field', async () => {
    const rules = [{ vendor: 'fcm', status: 503 }];
    expect((await putFaults(test, rules)).status).toBe(200);
    const response = await putFaults(test, [
      ...rules,
      { vendor: 'x' },
      { vendor: 'apns', rate: 2, times: 0 },
    ]);
    const { error } = (await response.json()) as { error: string };
    expect(error).toMatch(/^rules\[1\]\.vendor .*; rules\[2\]\.rate .*; rules\[2\]\.times /);
    expect(await shown()).toEqual({ rules });
  });

  it('shortens a long list of problems', async () => {
    const response = await putFaults(test, Array(50).fill({ vendor: 'x' }));
    expect(((await response.json()) as { error: string }).error).toMatch(/rules\[9\].*; and 40 more$/);
  });

  it('accepts 20,000 rules', async () => {
    const rules = Array.from({ length: 20_000 }, (_, index) => ({
      vendor: 'fcm',
      token: `t${index}`,
      status: 404,
    }));
    expect((await putFaults(test, rules)).status).toBe(200);
  });
});
