import { randomUUID } from 'node:crypto';
import { relayReceiptsPath } from '@waxwing/protocol';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { addServer } from '#relay/servers/manage-servers.js';
import { idle } from '../../../support/idle.js';
import { eachBackend } from '../../../support/test-databases.js';
import {
  apnsRequest,
  apnsToken,
  type DeliveriesUnderTest,
  fcmRequest,
  startDeliveriesUnderTest,
  until,
} from './deliveries-under-test.js';

const day = 24 * 60 * 60_000;
const time = { now: Date.UTC(2026, 0, 5, 12) };
// Another one each time, also when a test is tried again: what arrived is counted for each token.
let tokens = 0;
const freshFcmToken = () => `fcm-${tokens++}`;
const freshApnsToken = () => apnsToken(tokens++);
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

  describe('a repeated notification_id', () => {
    it('is answered as the first was and sends nothing again', async () => {
      const token = freshFcmToken();
      const id = await relay.addFcm(token);
      const request = fcmRequest(id, { notification_id: randomUUID().toUpperCase() });
      const first = await relay.notify([request]);
      const second = await relay.notify([request]);
      expect(second.body).toEqual(first.body);
      expect(await relay.arrived(token)).toHaveLength(1);
    });

    it('within one request, or while the first is under way, sends once', async () => {
      const token = freshApnsToken();
      const id = await relay.addApns(token);
      await relay.faults([{ vendor: 'apns', latency_ms: 50 }]);
      const request = apnsRequest(id, { notification_id: randomUUID() });
      const answers = await Promise.all([relay.notify([request, request]), relay.notify([request])]);
      for (const { body } of answers) for (const { status } of body.results) expect(status).toBe('sent');
      expect(await relay.arrived(token)).toHaveLength(1);
    });

    it('is queued once when it is repeated within one request that has to wait', async () => {
      const id = await relay.addFcm('fcm-repeat-queued');
      await relay.faults([{ vendor: 'fcm', token: 'fcm-repeat-queued', status: 503 }]);
      const request = fcmRequest(id, { notification_id: randomUUID() });
      const answers = await Promise.all([relay.notify([request, request]), relay.notify([request])]);
      const results = answers.flatMap(({ body }) => body.results);
      expect(results.map(({ status, reason }) => [status, reason])).toEqual(
        Array(3).fill(['queued', 'UNAVAILABLE']),
      );
      const jobs = await relay.database.jobs.list({ kind: 'deliver-notification' });
      expect(jobs).toHaveLength(1);
      await relay.database.jobs.drop(jobs[0]?.id ?? '');
    });

    it('reaches each device once when one id is used for all devices of a message', async () => {
      const [one, other] = [freshFcmToken(), freshFcmToken()];
      const ids = [await relay.addFcm(one), await relay.addFcm(other)];
      const notification_id = randomUUID();
      const requests = ids.map((id) => fcmRequest(id, { notification_id }));
      await relay.notify(requests);
      await relay.notify(requests);
      expect(await relay.arrived(one)).toHaveLength(1);
      expect(await relay.arrived(other)).toHaveLength(1);
      expect(await relay.receipts([notification_id])).toMatchObject([
        { device_id: ids[0], status: 'sent', attempts: 1 },
        { device_id: ids[1], status: 'sent', attempts: 1 },
      ]);
    });

    it('still names the dead device to forget, in case the first answer was lost', async () => {
      const id = await relay.addFcm('fcm-dead');
      await relay.faults([{ vendor: 'fcm', token: 'fcm-dead', reason: 'UNREGISTERED' }]);
      const request = fcmRequest(id, { notification_id: randomUUID() });
      expect((await relay.notify([request])).body.delete_device_ids).toEqual([id]);
      expect((await relay.notify([request])).body.delete_device_ids).toEqual([id]);
    });

    it('is known to the next process, too', async () => {
      const databaseUrl = await backend.freshUrl();
      const first = await startDeliveriesUnderTest({ databaseUrl });
      const request = fcmRequest(await first.addFcm('fcm-remembered'), { notification_id: randomUUID() });
      const { body } = await first.notify([request]);
      expect(body.results).toMatchObject([{ status: 'sent' }]);
      const { dir, ring, authorization } = first;
      await first.close({ keepData: true });
      const second = await startDeliveriesUnderTest({ databaseUrl, dir, ring });
      try {
        expect((await second.notify([request], { authorization })).body).toEqual(body);
        expect(await second.arrived()).toEqual([]);
      } finally {
        await second.close();
      }
    });

    it('is forgotten a day after the last change', async () => {
      const token = freshFcmToken();
      const id = await relay.addFcm(token);
      const notification_id = randomUUID();
      await relay.notify([fcmRequest(id, { notification_id })]);
      time.now += day - 1000;
      await relay.deliveries.receipts.forgetOld(time.now, new AbortController().signal);
      expect(await relay.receipts([notification_id])).toHaveLength(1);
      time.now += 2000;
      await relay.deliveries.receipts.forgetOld(time.now, new AbortController().signal);
      expect(await relay.receipts([notification_id])).toEqual([]);
      await relay.notify([fcmRequest(id, { notification_id })]);
      expect(await relay.arrived(token)).toHaveLength(2);
    });
  });

  describe('a queued notification', () => {
    it('is sent when its time has come, and its receipt tells so', async () => {
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
      // It has waited for 151 of the seconds that it is worth.
      expect(arrived[0]?.body).toMatchObject({ message: { android: { ttl: `${28 * 86_400 - 151}s` } } });
      expect(await relay.receipts([notificationId])).toMatchObject([{ status: 'sent', attempts: 2 }]);
    });

    it('that finds its token dead expires the device, and says gone in its receipt', async () => {
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

    it('is not tried when its token was found dead meanwhile', async () => {
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

    it('that finds dead a token which was registered again meanwhile does not call it gone', async () => {
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

    it('is given up when its time to live is over, and not tried after', async () => {
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

    it('is tried once more when somebody brings it back that was given up', async () => {
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

    it('that was only held back until its time to live was over was never tried', async () => {
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

    it('with a time to live of zero is never queued: now or never', async () => {
      const id = await relay.addFcm('fcm-now');
      await relay.faults([{ vendor: 'fcm', token: 'fcm-now', status: 503 }]);
      const { body } = await relay.notify([fcmRequest(id, { ttl_seconds: 0 })]);
      expect(body.results).toEqual([{ status: 'rejected', reason: 'UNAVAILABLE', fault: 'vendor' }]);
    });

    it('outlives the process: another one delivers it', async () => {
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

  describe('receipts', () => {
    it('tell what became of a notification for a device that the realm does not have, and of its repeat', async () => {
      const { server, database } = relay;
      const realm = await database.write(({ db }) =>
        db
          .insertInto('realms')
          .values({ uuid: randomUUID(), server_id: server?.serverId ?? '', created_at: 0 })
          .returning('id')
          .executeTakeFirstOrThrow(),
      );
      const foreign = await relay.addFcm(freshFcmToken(), { realm: realm.id });
      const dead = await relay.addFcm(freshFcmToken());
      await database.write(({ db }) =>
        db.updateTable('relay_devices').set({ expired_at: 1 }).where('id', '=', dead).execute(),
      );
      const devices = [foreign, dead, 999_999];
      const notification_id = randomUUID();
      const requests = devices.map((id) => fcmRequest(id, { notification_id }));
      const first = await relay.notify(requests);
      const gone = { status: 'gone', reason: 'UNKNOWN_DEVICE' };
      expect(first.body.results).toEqual(devices.map(() => ({ ...gone, notification_id })));
      expect(first.body.delete_device_ids).toEqual(devices);
      const receipts = await relay.receipts([notification_id]);
      expect(receipts.sort((one, other) => one.device_id - other.device_id)).toMatchObject(
        devices.map((device_id) => ({ ...gone, device_id })),
      );
      time.now += 1000;
      expect((await relay.notify(requests)).body).toEqual(first.body);
      expect((await relay.receipts([notification_id])).length).toBe(3);
    });

    it('are not promised for a device that there cannot be', async () => {
      const notification_id = randomUUID();
      const { body } = await relay.notify([fcmRequest(1n << 60n, { notification_id })]);
      expect(body.results).toEqual([{ status: 'gone', reason: 'UNKNOWN_DEVICE' }]);
      expect(await relay.receipts([notification_id])).toEqual([]);
    });

    it('still say that a notification was sent when its device has died since and it is repeated', async () => {
      const id = await relay.addFcm(freshFcmToken());
      const notification_id = randomUUID();
      await relay.notify([fcmRequest(id, { notification_id })]);
      await relay.database.write(({ db }) =>
        db.updateTable('relay_devices').set({ expired_at: time.now }).where('id', '=', id).execute(),
      );
      const { body } = await relay.notify([fcmRequest(id, { notification_id })]);
      expect(body.delete_device_ids).toEqual([id]);
      expect(await relay.receipts([notification_id])).toMatchObject([{ status: 'sent' }]);
    });

    it('are shown to the server that sent the notification and to no other', async () => {
      const id = await relay.addFcm('fcm-private');
      const notification_id = randomUUID();
      await relay.notify([fcmRequest(id, { notification_id })]);
      const other = await addServer(relay.database, { name: 'other', realmUuids: [randomUUID()] }, time.now);
      const credentials = `${other.serverId}:${other.serverKey.reveal()}`;
      const answer = await relay.app.inject({
        method: 'GET',
        url: `${relayReceiptsPath}?ids=${notification_id}`,
        headers: { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` },
      });
      expect(answer.json()).toEqual({ result: 'success', msg: '', receipts: [] });
    });

    it.each([
      ['', 'REQUEST_VARIABLE_MISSING'],
      ['?ids=', 'BAD_REQUEST'],
      ['?ids=7', 'BAD_REQUEST'],
      [
        `?ids=${Array.from({ length: 201 }, () => '9aa61d0b-8ce5-488d-8e9e-fedc346e6836').join(',')}`,
        'BAD_REQUEST',
      ],
    ])('asked for with "%.40s" are refused with %s', async (query, code) => {
      const { authorization } = relay;
      const answer = await relay.app.inject({
        method: 'GET',
        url: `${relayReceiptsPath}${query}`,
        headers: { authorization },
      });
      expect(answer.json().code).toBe(code);
      expect(answer.statusCode).toBe(400);
    });
  });
});
