import { afterEach, expect, it } from 'vitest';
import { resumeServer, suspendServer } from '#relay/servers/manage-servers.js';
import { idle } from '../../../support/idle.js';
import { type DeliveriesUnderTest, fcmRequest, startDeliveriesUnderTest } from './deliveries-under-test.js';

const time = { now: Date.UTC(2026, 0, 5, 12) };
/** Long enough for a suspension to take effect and for the notification to become due again. */
const later = 30_000;
let relay: DeliveriesUnderTest;
afterEach(() => relay.close());

it('rejects queued notifications of a suspended server when they are due', async () => {
  relay = await startDeliveriesUnderTest({ clock: () => time.now, timings: { delayDivisor: 1 } });
  const { database, server } = relay;
  if (server === undefined) throw new Error('the relay has no server');
  const request = fcmRequest(await relay.addFcm('fcm-1'));
  const change = async (changing: Promise<boolean>) => {
    expect(await changing).toBe(true);
    time.now += later;
    await idle(database.jobs);
  };

  await relay.faults([{ vendor: 'fcm', status: 503, times: 2 }]);
  const before = (await relay.notify([request])).body.results[0];
  expect(before).toMatchObject({ status: 'queued' });
  await change(suspendServer(database, server.serverId, time.now));
  await change(resumeServer(database, server.serverId));
  expect(await relay.arrived()).toEqual([]);
  expect(await relay.receipts([before?.notification_id])).toMatchObject([
    { status: 'rejected', reason: 'SERVER_DEACTIVATED', fault: 'server' },
  ]);
  expect(await relay.metrics.text()).toMatch(
    /waxwing_deliveries_total\{vendor="fcm",outcome="rejected",reason="SERVER_DEACTIVATED"\} 1/,
  );

  // Once the server is active again, its notifications are delivered, including retries.
  const after = (await relay.notify([request])).body.results[0];
  expect(after).toMatchObject({ status: 'queued' });
  time.now += later;
  await idle(database.jobs);
  expect(await relay.receipts([after?.notification_id])).toMatchObject([{ status: 'sent' }]);
});
