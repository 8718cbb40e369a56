import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { idle } from '../../../support/idle.js';
import { eachBackend } from '../../../support/test-databases.js';
import {
  apnsRequest,
  apnsToken,
  type DeliveriesUnderTest,
  fcmRequest,
  pushAccountId,
  startDeliveriesUnderTest,
  until,
} from './deliveries-under-test.js';

const time = { now: Date.UTC(2026, 0, 5, 12) };
// Each test run uses new tokens, even a retry, because deliveries are counted per token.
let tokens = 0;
const freshFcmToken = () => `fcm-${tokens++}`;
eachBackend((backend) => {
  let relay: DeliveriesUnderTest;
  beforeAll(async () => {
    const databaseUrl = await backend.freshUrl();
    relay = await startDeliveriesUnderTest({
      databaseUrl,
      clock: () => time.now,
      timings: { delayDivisor: 1 },
    });
  });
  afterEach(() => relay.faults([]));
  afterAll(() => relay.close());

  describe('a queued notification', () => {
    it('is sent when it is due, and its receipt becomes "sent"', async () => {
      const token = freshFcmToken();
      const id = await relay.addFcm(token);
      await relay.faults([{ vendor: 'fcm', token, status: 503, retry_after: 120, times: 1 }]);
      const { body } = await relay.notify([fcmRequest(id)]);
      const notificationId = body.results[0]?.notification_id;
      expect(body.results).toEqual([
        { status: 'queued', reason: 'UNAVAILABLE', notification_id: notificationId },
      ]);
      expect(await relay.receipts([notificationId])).toEqual([
        {
          notification_id: notificationId,
          device_id: id,
          // Rounded, because the test parses the response with JSON.parse.
          push_account_id: Number(pushAccountId),
          status: 'queued',
          reason: 'UNAVAILABLE',
          attempts: 1,
          updated_at: Math.floor(time.now / 1000),
        },
      ]);
      time.now += 119_000;
      await idle(relay.database.jobs);
      expect(await relay.arrived(token)).toEqual([]);
      time.now += 32_000;
      await idle(relay.database.jobs);
      const arrived = await relay.arrived(token);
      expect(arrived).toHaveLength(1);
      // The notification has waited for 151 seconds of its TTL.
      expect(arrived[0]?.body).toMatchObject({ message: { android: { ttl: `${28 * 86_400 - 151}s` } } });
      expect(await relay.receipts([notificationId])).toMatchObject([{ status: 'sent', attempts: 2 }]);
    });

    it('expires the device if the token is dead, and its receipt becomes "gone"', async () => {
      const token = 'fcm-dies-later';
      const id = await relay.addFcm(token);
      await relay.faults([
        { vendor: 'fcm', token, status: 503, times: 1 },
        { vendor: 'fcm', token, reason: 'UNREGISTERED' },
      ]);
      const { body } = await relay.notify([fcmRequest(id)]);
      time.now += 13_000;
      await idle(relay.database.jobs);
      expect(await relay.receipts([body.results[0]?.notification_id])).toMatchObject([
        { status: 'gone', reason: 'UNREGISTERED', attempts: 2 },
      ]);
      expect((await relay.device(id)).expired_at).toBe(time.now);
    });

    it('is not sent if its token has been found dead meanwhile', async () => {
      const token = 'fcm-died-meanwhile';
      const id = await relay.addFcm(token);
      await relay.faults([{ vendor: 'fcm', token, status: 503, times: 1 }]);
      const { body } = await relay.notify([fcmRequest(id)]);
      await relay.database.write(({ db }) =>
        db.updateTable('relay_devices').set({ expired_at: time.now }).where('id', '=', id).execute(),
      );
      time.now += 13_000;
      await idle(relay.database.jobs);
      expect(await relay.receipts([body.results[0]?.notification_id])).toMatchObject([
        { status: 'gone', reason: 'UNKNOWN_DEVICE' },
      ]);
      expect(await relay.arrived(token)).toEqual([]);
    });

    it('is rejected, not gone, if the phone registers the dead token again meanwhile', async () => {
      const token = 'fcm-comes-back';
      const id = await relay.addFcm(token);
      await relay.faults([
        { vendor: 'fcm', token, status: 503, times: 1 },
        { vendor: 'fcm', token, reason: 'UNREGISTERED', latency_ms: 1500 },
      ]);
      const { body } = await relay.notify([fcmRequest(id)]);
      time.now += 13_000;
      const done = idle(relay.database.jobs);
      await until(async () => {
        const { faults_fired } = await relay.statistics();
        return faults_fired[1] === 1;
      });
      await relay.database.write(({ db }) =>
        db.updateTable('relay_devices').set({ registered_at: time.now }).where('id', '=', id).execute(),
      );
      await done;
      expect(await relay.receipts([body.results[0]?.notification_id])).toMatchObject([
        { status: 'rejected', reason: 'REGISTERED_SINCE', fault: 'vendor' },
      ]);
      expect((await relay.device(id)).expired_at).toBeNull();
    });

    it('is rejected when its TTL ends, and not sent afterwards', async () => {
      const token = 'fcm-short-lived';
      const id = await relay.addFcm(token);
      await relay.faults([{ vendor: 'fcm', token, status: 503 }]);
      const { body } = await relay.notify([fcmRequest(id, { ttl_seconds: 30 })]);
      expect(body.results[0]?.status).toBe('queued');
      for (let second = 0; second < 40; second += 5) {
        time.now += 5000;
        await idle(relay.database.jobs);
      }
      await relay.faults([]);
      const [receipt] = await relay.receipts([body.results[0]?.notification_id]);
      expect(receipt).toMatchObject({ status: 'rejected', fault: 'vendor' });
      expect(receipt?.reason).toMatch(/^(EXPIRED_)?UNAVAILABLE$/);
      expect(await relay.arrived(token)).toEqual([]);
    });

    it('is sent if it is a dead letter and an operator retries its job', async () => {
      const token = freshFcmToken();
      const id = await relay.addFcm(token);
      await relay.faults([{ vendor: 'fcm', token, status: 503 }]);
      const { body } = await relay.notify([fcmRequest(id, { ttl_seconds: 30 })]);
      time.now += 31_000;
      await idle(relay.database.jobs);
      await relay.faults([]);
      const ofThis = async () => (await relay.receipts([body.results[0]?.notification_id]))[0];
      expect(await ofThis()).toMatchObject({ status: 'rejected', reason: 'EXPIRED_UNAVAILABLE' });
      const dead = await relay.database.jobs.list({ state: 'dead', kind: 'deliver-notification' });
      for (const job of dead) await relay.database.jobs.retry(job.id);
      await idle(relay.database.jobs);
      expect(await relay.arrived(token)).toHaveLength(1);
      expect(await ofThis()).toMatchObject({ status: 'sent' });
    });

    it('has zero attempts in its receipt if the credential is refused until it expires', async () => {
      const id = await relay.addApns(apnsToken(5), { appId: 'org.example.Held' });
      await relay.faults([{ vendor: 'apns', topic: 'org.example.Held', reason: 'InvalidProviderToken' }]);
      const { body } = await relay.notify([apnsRequest(id, { ttl_seconds: 150 })]);
      expect(body.results[0]).toMatchObject({ status: 'queued', reason: 'InvalidProviderToken' });
      for (let second = 0; second < 160; second += 40) {
        time.now += 40_000;
        await idle(relay.database.jobs);
      }
      expect(await relay.receipts([body.results[0]?.notification_id])).toMatchObject([
        { status: 'rejected', reason: 'EXPIRED_InvalidProviderToken', attempts: 0 },
      ]);
    });

    it('is never stored if its TTL is zero', async () => {
      const id = await relay.addFcm('fcm-now');
      await relay.faults([{ vendor: 'fcm', token: 'fcm-now', status: 503 }]);
      const { body } = await relay.notify([fcmRequest(id, { ttl_seconds: 0 })]);
      expect(body.results).toEqual([{ status: 'rejected', reason: 'UNAVAILABLE', fault: 'vendor' }]);
    });

    it('is delivered by the next process after a restart', async () => {
      const databaseUrl = await backend.freshUrl();
      const first = await startDeliveriesUnderTest({ databaseUrl });
      const token = apnsToken(7);
      const id = await first.addApns(token);
      await first.faults([{ vendor: 'apns', token, status: 503 }]);
      const { body } = await first.notify([apnsRequest(id)]);
      expect(body.results[0]?.status).toBe('queued');
      const [payload] = await first.database.db.selectFrom('delivery_receipts').selectAll().execute();
      expect(payload?.status).toBe('queued');
      await first.close({ keepData: true });
      const second = await startDeliveriesUnderTest({
        databaseUrl,
        dir: first.dir,
        ring: first.ring,
      });
      try {
        await expect.poll(async () => (await second.arrived(token)).length).toBe(1);
      } finally {
        await second.close();
      }
    });
  });
});
