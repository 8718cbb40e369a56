import { afterEach, beforeEach, describe, expect, it } from 'vitest';
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
  type ApnsAnswer,
  ApnsClient,
  deviceToken,
  getDeliveries,
  getStatistics,
  makeProviderToken,
  putFaults,
  startTestVendors,
  type TestVendors,
  topic,
} from './vendor-clients.js';

useScriptedVendors();

describe('a reset', () => {
  it('before processing refuses the stream without a delivery', async () => {
    const apns = await connectClient();
    await script({ vendor: 'apns', reset: 'before', times: 1 });
    await expect(apns.send()).rejects.toThrow(/REFUSED_STREAM/);
    expect(await getDeliveries(test)).toEqual([]);
    expect((await apns.send()).status).toBe(200);
  });

  it('after processing hides the delivery from the sender', async () => {
    const apns = await connectClient();
    await script({ vendor: 'apns', reset: 'after', times: 1 });
    await expect(apns.send()).rejects.toThrow(/INTERNAL_ERROR/);
    expect(await getDeliveries(test)).toHaveLength(1);
  });

  it('breaks the connection to FCM before or after processing', async () => {
    await script({ vendor: 'fcm', reset: true, times: 1 }, { vendor: 'fcm', reset: 'after', times: 1 });
    await expect(send()).rejects.toThrow('fetch failed');
    expect(await getDeliveries(test)).toEqual([]);
    await expect(send()).rejects.toThrow('fetch failed');
    expect(await getDeliveries(test)).toHaveLength(1);
    expect((await send()).status).toBe(200);
  });
});

describe('GOAWAY', () => {
  const settle = (sends: Promise<ApnsAnswer>[]) => Promise.allSettled(sends);

  it('is sent after the given number of streams, and later streams are not processed', async () => {
    const apns = await connectWarm();
    await script({ vendor: 'apns', goaway_every: 10 });
    const results = await settle(
      Array.from({ length: 25 }, (_, index) => apns.send((index + 16).toString(16))),
    );
    const kept = results.flatMap(({ status }, index) => (status === 'fulfilled' ? [index] : []));
    // The warm-up used the connection's first stream, so the tenth stream, with the id 19, carries the ninth request.
    expect(kept).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    expect(apns.goaways[0]).toEqual({ code: 0, lastStreamId: 19, debugData: '{"reason":"Shutdown"}' });
    const delivered = (await getDeliveries(test)).map(({ token }) => token);
    expect(delivered.slice(1)).toEqual(kept.map((index) => (index + 16).toString(16)));
    if (!apns.session.closed) await new Promise((resolve) => apns.session.once('close', resolve));
  });

  it('is sent on every connection, with the debug data and the code of the rule', async () => {
    await script({ vendor: 'apns', goaway_every: 1, goaway_json: false });
    for (let index = 0; index < 3; index += 1) {
      const apns = await connectClient();
      expect((await apns.send()).status).toBe(200);
      expect(apns.goaways[0]).toEqual({ code: 0, lastStreamId: 1, debugData: '' });
    }
    await script({ vendor: 'apns', goaway_every: 1, goaway_code: 11, reason: 'TooManyRequests', times: 1 });
    const broken = await connectClient();
    const error = new Promise((resolve) => broken.session.once('error', resolve));
    await settle([broken.send()]);
    expect(String(await error)).toContain('error code 11');
    expect(broken.goaways[0]).toMatchObject({ code: 11, debugData: '{"reason":"TooManyRequests"}' });
    const spared = await connectClient();
    await spared.send();
    expect(spared.goaways).toEqual([]);
  });

  it('does not interrupt responses in flight', async () => {
    const apns = await connectWarm();
    await script({ vendor: 'apns', goaway_every: 3, latency_ms: 30 });
    const results = await settle([apns.send(), apns.send()]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
  });

  it('can be limited to one environment', async () => {
    await script({ vendor: 'apns', goaway_every: 1, environment: 'sandbox' });
    const production = await connectClient();
    await production.send();
    expect(production.goaways).toEqual([]);
    const sandbox = await connectClient('sandbox');
    await sandbox.send();
    expect(sandbox.goaways).toHaveLength(1);
  });
});

describe('stream limits', () => {
  it('can be set for authenticated and for new connections', async () => {
    const old = await connectWarm();
    await script({ vendor: 'apns', max_concurrent_streams: 7 });
    await old.waitForStreamLimit(7);
    const fresh = await connectClient();
    expect(fresh.session.remoteSettings.maxConcurrentStreams).toBe(1);
    await fresh.send();
    await fresh.waitForStreamLimit(7);
    await script({ vendor: 'apns', initial_concurrent_streams: 50 });
    await old.waitForStreamLimit(1000);
    const open = await connectClient();
    expect(open.session.remoteSettings.maxConcurrentStreams).toBe(50);
  });
});

describe('a half-open socket', () => {
  it('answers neither requests nor pings, while other connections continue', async () => {
    const apns = await connectWarm();
    await script({ vendor: 'apns', half_open: true, times: 1 });
    const events: string[] = [];
    const watch = (name: string) => () => events.push(name);
    apns.send('aa').then(watch('answer'), watch('error'));
    const other = await connectClient();
    while ((await getStatistics(test)).faults_fired[0] !== 1) {
      await other.send('bb');
    }
    apns.session.ping(watch('ping'));
    apns.send('cc').then(watch('answer'), watch('error'));
    await new Promise((resolve) => other.session.ping(resolve));
    for (let index = 0; index < 20; index += 1) expect((await other.send('bb')).status).toBe(200);
    expect(events).toEqual([]);
    expect(apns.session.destroyed).toBe(false);
    expect(await getDeliveries(test, 'aa')).toEqual([]);
    expect(await getDeliveries(test, 'cc')).toEqual([]);
  });

  it('never answers a request to FCM', async () => {
    await script({ vendor: 'fcm', half_open: true, times: 1 });
    const stop = new AbortController();
    const { urls, credentials } = test.vendors;
    const hanging = fetch(`${urls.fcm}/v1/projects/${credentials.fcmProjectId}/messages:send`, {
      method: 'POST',
      headers: { authorization: `Bearer ${accessToken}` },
      body: '{"message":{"token":"t"}}',
      signal: stop.signal,
    });
    let isSettled = false;
    const outcome = hanging
      .catch((error: Error) => error.name)
      .finally(() => {
        isSettled = true;
      });
    const fired = async () => (await getStatistics(test)).faults_fired[0];
    while ((await fired()) !== 1) expect(isSettled).toBe(false);
    for (let index = 0; index < 20; index += 1) expect((await send()).status).toBe(200);
    expect(isSettled).toBe(false);
    stop.abort();
    expect(await outcome).toBe('AbortError');
  });

  it('does not keep the stand-ins from closing', async () => {
    const own = await startTestVendors();
    await putFaults(own, [{ vendor: 'apns', half_open: true }]);
    const apns = await ApnsClient.connect(own);
    const closed = new Promise((resolve) => apns.session.once('close', resolve));
    apns.session.on('error', () => {});
    const outcome = apns.send().catch(() => 'broken');
    const fired = async () => (await getStatistics(own)).faults_fired[0];
    while ((await fired()) !== 1) await getDeliveries(own);
    await own.close();
    await closed;
    expect(await outcome).toBe('broken');
  });
});

describe('the rate limit for provider tokens', () => {
  let own: TestVendors;

  beforeEach(async () => {
    own = await startTestVendors();
  });
  afterEach(() => own.close());

  it('refuses a token that is too soon after the last new token, but accepts the older token', async () => {
    await putFaults(own, [{ vendor: 'apns', mint_interval_seconds: 1200 }]);
    const apns = await ApnsClient.connect(own);
    const first = `bearer ${await makeProviderToken(own)}`;
    const sendWith = (authorization: string) =>
      apns.send(deviceToken, { authorization, 'apns-topic': topic });
    expect((await sendWith(first)).status).toBe(200);
    own.clock.milliseconds += 1_199_000;
    const second = `bearer ${await makeProviderToken(own)}`;
    expect(await sendWith(second)).toMatchObject({
      status: 429,
      body: { reason: 'TooManyProviderTokenUpdates' },
    });
    expect((await sendWith(first)).status).toBe(200);
    own.clock.milliseconds += 1000;
    expect((await sendWith(second)).status).toBe(200);
    expect((await sendWith(first)).status).toBe(200);
    const sandbox = await ApnsClient.connect(own, 'sandbox');
    expect((await sandbox.send(deviceToken, { authorization: second })).status).toBe(200);
    own.clock.milliseconds += 60_000;
    const third = `bearer ${await makeProviderToken(own)}`;
    expect((await sandbox.send(deviceToken, { authorization: third })).status).toBe(429);
    apns.close();
    sandbox.close();
  });

  it('is off unless a rule enables it', async () => {
    const apns = await ApnsClient.connect(own);
    for (let index = 0; index < 3; index += 1) {
      own.clock.milliseconds += 1000;
      const authorization = `bearer ${await makeProviderToken(own)}`;
      expect((await apns.send(deviceToken, { authorization })).status).toBe(200);
    }
    expect(await getStatistics(own)).toMatchObject({ apns: { provider_tokens_accepted: 3 } });
    apns.close();
  });
});
