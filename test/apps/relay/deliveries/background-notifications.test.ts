import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  apnsRequest,
  apnsToken,
  appsFor,
  type DeliveriesUnderTest,
  startDeliveriesUnderTest,
  topic,
} from './deliveries-under-test.js';

const filteringTopic = 'org.example.Filtering';
const http_headers = { apns_priority: 5, apns_push_type: 'background' };
let relay: DeliveriesUnderTest;
beforeAll(async () => {
  relay = await startDeliveriesUnderTest({
    apps: (vendors) => {
      const [apns] = appsFor(vendors).apns;
      return {
        apns: [
          { ...apns, topics: [topic] },
          { ...apns, topics: [filteringTopic], filtering_entitlement: true },
        ],
      };
    },
  });
});
afterAll(() => relay.close());

let tokens = 0;

async function deliver(appId: string, request: object, aps: object) {
  tokens += 1;
  const token = apnsToken(tokens);
  const id = await relay.addApns(token, { appId });
  expect((await relay.notify([apnsRequest(id, request, aps)])).body.results).toEqual([{ status: 'sent' }]);
  const [delivery] = await relay.arrived(token);
  return {
    type: delivery?.headers['apns-push-type'],
    priority: delivery?.headers['apns-priority'],
    aps: delivery?.body.aps,
    box: delivery?.body.encrypted_data,
  };
}

describe('a background notification', () => {
  const asked = [
    { 'mutable-content': 1 },
    { 'content-available': 1, 'mutable-content': 1 },
    { 'content-available': 1 },
    {},
    { alert: { title: 'x' }, sound: 'default' },
  ];

  it.each(asked)('wakes the app, regardless of the aps that the server sent: %j', async (aps) => {
    expect(await deliver(topic, { http_headers }, aps)).toMatchObject({
      type: 'background',
      priority: '5',
      aps: { 'content-available': 1 },
      box: expect.stringMatching(/^[A-Za-z0-9+/]+=*$/),
    });
    // Apple does not allow other fields in a background notification's `aps`.
    expect((await deliver(topic, { http_headers }, aps)).aps).toEqual({ 'content-available': 1 });
  });

  it.each(asked)('becomes a suppressible alert if the app has the filtering entitlement: %j', async (aps) => {
    const delivered = await deliver(filteringTopic, { http_headers }, aps);
    expect(delivered).toMatchObject({ type: 'alert', priority: '5' });
    expect(delivered.aps).toEqual({ alert: { title: 'New notification' }, 'mutable-content': 1 });
  });

  it('differs from an alert, which is delivered unchanged to apps with and without the entitlement', async () => {
    const aps = { 'mutable-content': 1, alert: { title: 'New notification' }, sound: 'default' };
    for (const appId of [topic, filteringTopic]) {
      expect(await deliver(appId, {}, aps)).toMatchObject({ type: 'alert', priority: '10', aps });
    }
  });
});
