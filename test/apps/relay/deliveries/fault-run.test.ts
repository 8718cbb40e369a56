import { formatPushAccountId } from '@waxwing/protocol';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { productionTimings } from '#relay/deliveries/delivery-timings.js';
import { bindingOfToken } from '#relay/registrations/store/token-vault.js';
import {
  apnsRequest,
  apnsToken,
  type DeliveriesUnderTest,
  fcmRequest,
  pushAccountId,
  startDeliveriesUnderTest,
  topic,
  until,
} from './deliveries-under-test.js';

/** Number of notifications. The full run uses 100000; the default is small enough for every test run. */
const notifications = Number(process.env.WAXWING_FAULT_RUN_NOTIFICATIONS ?? 6000);
const perRequest = 500;
const requestsAtOnce = 4;
const timeoutMilliseconds = 60_000 + notifications * 20;
// Timeouts long enough for a slow machine, because a delivery that times out is sent again.
const patience = 60_000;
const patient = {
  requestBudgetMilliseconds: patience,
  fcmTimeoutMilliseconds: patience,
  apns: {
    ...productionTimings.apns,
    requestTimeoutMilliseconds: patience,
    pingTimeoutMilliseconds: patience,
  },
};
const payload = { push_account_id: pushAccountId, encrypted_data: Buffer.alloc(90, 7).toString('base64') };

let relay: DeliveriesUnderTest;
beforeAll(async () => {
  relay = await startDeliveriesUnderTest({ timings: patient });
});
afterAll(() => relay.close());

it(`delivers ${notifications} notifications despite vendor faults, and twice only if the outcome is unknown`, {
  timeout: timeoutMilliseconds,
}, async () => {
  const ids = await addPhones(notifications);
  const faults = [
    { status: 503, rate: 0.01 },
    { status: 429, rate: 0.01, retry_after: 2 },
    { reset: 'before', rate: 0.005 },
    // The vendor processes the request before the reset, so the relay's retry delivers it twice.
    { reset: 'after', rate: 0.001 },
  ];
  const rules = ['apns', 'fcm'].flatMap((vendor) => faults.map((fault) => ({ vendor, ...fault })));
  await relay.faults([{ vendor: 'apns', goaway_every: 1000 }, ...rules], 20260105);

  const batches: number[][] = [];
  for (let offset = 0; offset < ids.length; offset += perRequest)
    batches.push(ids.slice(offset, offset + perRequest));
  const counts = new Map<string, number>();
  const startedAt = performance.now();
  await Promise.all(
    Array.from({ length: requestsAtOnce }, async () => {
      for (let batch = batches.shift(); batch !== undefined; batch = batches.shift()) {
        const { status, body } = await relay.notify(batch.map(requestFor));
        expect(status).toBe(200);
        for (const result of body.results) counts.set(result.status, (counts.get(result.status) ?? 0) + 1);
      }
    }),
  );
  expect([...counts.keys()].sort()).toEqual(['queued', 'sent']);
  await until(async () => (await relay.deliveries.receipts.countQueued()) === 0, timeoutMilliseconds);
  const seconds = (performance.now() - startedAt) / 1000;

  const arrivals = new Map<string, number>();
  for (const { token } of await relay.arrived()) arrivals.set(token, (arrivals.get(token) ?? 0) + 1);
  const twice = [...arrivals.values()].reduce((more, times) => more + times - 1, 0);
  const ambiguous = await countResetsAfterProcessing();
  process.stdout.write(
    `fault run: ${notifications} notifications in ${seconds.toFixed(1)} s, ${counts.get('queued')} of them later, ` +
      `${twice} twice, of ${ambiguous} broken off after they were processed\n`,
  );
  expect(arrivals.size).toBe(notifications);
  expect(twice).toBe(ambiguous);
});

function requestFor(id: number, index: number): object {
  return isApns(index)
    ? { ...apnsRequest(id), payload: { ...payload, aps: { alert: {}, 'mutable-content': 1 } } }
    : { ...fcmRequest(id), payload };
}

/** Whether the phone with this index has an Apple token. Seven in ten phones have one. */
function isApns(index: number): boolean {
  return index % 10 < 7;
}

async function addPhones(count: number): Promise<number[]> {
  const { database, realmId, tokenVault } = relay;
  const ids: number[] = [];
  for (let offset = 0; offset < count; offset += perRequest) {
    const rows = Array.from({ length: Math.min(perRequest, count - offset) }, (_, index) => {
      const token = isApns(index) ? apnsToken(offset + index) : `fcm-${offset + index}`;
      const identity = {
        realm_id: realmId,
        push_account_id: formatPushAccountId(pushAccountId),
        token_lookup: `lookup of ${token}`,
      };
      return {
        ...identity,
        token_kind: isApns(index) ? 'apns' : 'fcm',
        token: tokenVault.seal(token, bindingOfToken(identity)),
        ios_app_id: isApns(index) ? topic : null,
        apns_environment: isApns(index) ? 'production' : null,
        registered_at: Date.now() - 60_000,
        expired_at: null,
      };
    });
    const added = await database.write(({ db }) =>
      db.insertInto('relay_devices').values(rows).returning('id').execute(),
    );
    ids.push(...added.map(({ id }) => Number(id)).sort((a, b) => a - b));
  }
  return ids;
}

async function countResetsAfterProcessing(): Promise<number> {
  const { fcm, apns } = await relay.statistics();
  return (fcm.answers['reset after'] ?? 0) + (apns.production.answers['reset after'] ?? 0);
}
