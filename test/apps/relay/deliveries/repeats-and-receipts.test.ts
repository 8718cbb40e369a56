import { randomUUID } from 'node:crypto';
import { relayReceiptsPath } from '@waxwing/protocol';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { addServer } from '#relay/servers/manage-servers.js';
import { eachBackend } from '../../../support/test-databases.js';
import {
  apnsRequest,
  apnsToken,
  type DeliveriesUnderTest,
  fcmRequest,
  startDeliveriesUnderTest,
} from './deliveries-under-test.js';

const day = 24 * 60 * 60_000;
const time = { now: Date.UTC(2026, 0, 5, 12) };
// Each test run uses new tokens, even a retry, because deliveries are counted per token.
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
    it('gets the response of the first request, and sends nothing again', async () => {
      const token = freshFcmToken();
      const id = await relay.addFcm(token);
      const request = fcmRequest(id, { notification_id: randomUUID().toUpperCase() });
      const first = await relay.notify([request]);
      const second = await relay.notify([request]);
      expect(second.body).toEqual(first.body);
      expect(await relay.arrived(token)).toHaveLength(1);
    });

    it('sends once within one request, or while the first request is in flight', async () => {
      const token = freshApnsToken();
      const id = await relay.addApns(token);
      await relay.faults([{ vendor: 'apns', latency_ms: 50 }]);
      const request = apnsRequest(id, { notification_id: randomUUID() });
      const answers = await Promise.all([relay.notify([request, request]), relay.notify([request])]);
      const statuses = answers.map(({ body }) => body.results.map(({ status }) => status));
      expect(statuses).toEqual([['sent', 'sent'], ['sent']]);
      expect(await relay.arrived(token)).toHaveLength(1);
    });

    it('is queued once if it is repeated while the vendor is busy', async () => {
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

    it('reaches each device once if several devices share the id', async () => {
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

    it('lists the dead device for deletion again, in case the first response was lost', async () => {
      const id = await relay.addFcm('fcm-dead');
      await relay.faults([{ vendor: 'fcm', token: 'fcm-dead', reason: 'UNREGISTERED' }]);
      const request = fcmRequest(id, { notification_id: randomUUID() });
      expect((await relay.notify([request])).body.delete_device_ids).toEqual([id]);
      expect((await relay.notify([request])).body.delete_device_ids).toEqual([id]);
    });

    it('is recognized by the next process', async () => {
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

  describe('receipts', () => {
    it('name the outcome of a notification for an unknown device, and of its repeat', async () => {
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
      const devices = [foreign, dead, Number.MAX_SAFE_INTEGER];
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

    it('do not exist for an impossible device id', async () => {
      const notification_id = randomUUID();
      const { body } = await relay.notify([fcmRequest(1n << 60n, { notification_id })]);
      expect(body.results).toEqual([{ status: 'gone', reason: 'UNKNOWN_DEVICE' }]);
      expect(await relay.receipts([notification_id])).toEqual([]);
    });

    it('stay "sent" for a repeat after the device has expired', async () => {
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

    it('are shown only to the server that sent the notification', async () => {
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
    ])('are refused for the query "%.40s" with %s', async (query, code) => {
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
