import { relayNotifyPath, stringifyJson } from '@waxwing/protocol';
import { sql } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { HeldOpen } from '../../../support/held-open.js';
import { lockWaiters } from '../../../support/lock-waiters.js';
import { eachPostgres } from '../../../support/test-databases.js';
import { fcmRequest, realmUuid, startDeliveriesUnderTest } from './deliveries-under-test.js';

describe('a server that disconnects while the database does not answer', () => {
  eachPostgres((postgres) => {
    it('causes no duplicate notifications when it repeats the request', async () => {
      const relay = await startDeliveriesUnderTest({ databaseUrl: await postgres.freshUrl() });
      onTestFinished(() => relay.close());
      const { app, arrived, authorization, database, metrics, notify, settled } = relay;
      const requests = [fcmRequest(await relay.addFcm('fcm-1')), fcmRequest(await relay.addFcm('fcm-2'))];
      // Caches the server and its realm, so that only the device look-up waits for the lock below.
      await notify([]);
      const url = await app.listen({ host: '127.0.0.1', port: 0 });
      const lock = new HeldOpen();
      onTestFinished(() => lock.release());
      // Leaves out the count of devices, which waits for the lock too if its time comes during this test.
      const lookUps = () => lockWaiters(database.db, 'select % from "relay_devices" where "id" in %');
      await lock.hold((stay) =>
        database.db.transaction().execute(async (transaction) => {
          await sql`lock table relay_devices`.execute(transaction);
          await stay();
        }),
      );
      const patience = new AbortController();
      const given = fetch(url + relayNotifyPath, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json' },
        body: stringifyJson({ realm_uuid: realmUuid, push_requests: requests as never }),
        signal: patience.signal,
      });
      await expect.poll(lookUps).toBe(1);
      patience.abort();
      await expect(given).rejects.toThrow();
      await expect.poll(() => metrics.text()).toContain('waxwing_http_connections 0');
      const repeated = notify(requests);
      await expect.poll(lookUps).toBe(2);
      await lock.release();
      const { body } = await repeated;
      for (const { notification_id: queued } of body.results) if (queued !== undefined) await settled(queued);
      await expect.poll(() => metrics.text()).toContain('waxwing_deliveries_in_flight 0');
      expect([await arrived('fcm-1'), await arrived('fcm-2')].map(({ length }) => length)).toEqual([1, 1]);
    });
  });
});
