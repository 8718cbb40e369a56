import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type DeliveriesUnderTest, fcmRequest, startDeliveriesUnderTest } from './deliveries-under-test.js';
import { TalkativeGoogle } from './talkative-google.js';

let relay: DeliveriesUnderTest | undefined;
let google: TalkativeGoogle;
afterEach(async () => {
  await google.close();
  await relay?.close();
  relay = undefined;
});

/** Starts a relay with a Google stand-in that sends long responses. */
async function start(): Promise<DeliveriesUnderTest> {
  google = await TalkativeGoogle.start();
  relay = await startDeliveriesUnderTest({
    environment: { RELAY_FCM_BASE_URL: google.url },
    timings: { delayDivisor: 1 },
    apps: ({ credentials }) => {
      const account = JSON.parse(readFileSync(credentials.serviceAccountFile, 'utf8'));
      const file = join(credentials.serviceAccountFile, '..', 'talkative.json');
      writeFileSync(file, JSON.stringify({ ...account, token_uri: `${google.url}/token` }), { mode: 0o600 });
      return { fcm: [{ service_account_file: file }] };
    },
  });
  return relay;
}

describe('an unusually long response from Google', () => {
  it('has an unknown reason, but its connection is reused', async () => {
    const { addFcm, notify } = await start();
    const id = await addFcm('fcm-1');
    google.messages.more = 20 * 1024;
    for (let round = 0; round < 3; round += 1) {
      const { body } = await notify([fcmRequest(id)]);
      expect(body.results[0]).toMatchObject({ status: 'rejected', reason: 'UNKNOWN' });
    }
    // The relay uses one connection for access tokens and one for messages.
    expect(google.connections).toBe(2);
  });

  it('is not read to the end if it is endless', async () => {
    const { addFcm, notify } = await start();
    const id = await addFcm('fcm-1');
    google.messages.more = Number.POSITIVE_INFINITY;
    const { body } = await notify([fcmRequest(id)]);
    expect(body.results[0]).toMatchObject({ status: 'rejected', reason: 'UNKNOWN' });
  });

  it.each([
    [200, 20 * 1024],
    [200, Number.POSITIVE_INFINITY],
    [400, Number.POSITIVE_INFINITY],
  ])('is not accepted as an access token (HTTP %i, %d additional bytes)', async (status, more) => {
    const { addFcm, notify } = await start();
    const id = await addFcm('fcm-1');
    google.oauth = { status, more };
    const { body } = await notify([fcmRequest(id)]);
    const reason = status === 200 ? 'OAUTH_UNAVAILABLE' : 'OAUTH_REFUSED';
    expect(body.results[0]).toMatchObject({ status: 'queued', reason });
  });
});
