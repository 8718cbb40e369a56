import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import type { PushAccountId } from '@waxwing/protocol';
import {
  apnsRequest,
  apnsToken,
  encryptedData,
  fcmRequest,
} from '../../apps/relay/deliveries/deliveries-under-test.js';
import type { WatchedRelay } from './watched-relay.js';

/** An incident that can be provoked on a running relay. */
export interface RelayIncident {
  readonly name: string;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Name of the dashboard's check that states the cause. */
  readonly check: string;
  readonly cause: RegExp;
  /** The alert that the incident's metrics raise. `undefined` if the metrics come from the machine. */
  readonly alert: string | undefined;
  /** Starts the incident, and lets some minutes pass. Resolves to a function that ends the incident. */
  begin(relay: WatchedRelay): Promise<() => Promise<unknown> | unknown>;
}

const phones = (relay: WatchedRelay, count: number) =>
  Promise.all(
    Array.from({ length: count }, async (_, index) => apnsRequest(await relay.addApns(apnsToken(index)))),
  );

/** Sends a notification to one phone each minute while the vendor has a fault, and again after the fault. */
async function vendorFault(relay: WatchedRelay, fault: object) {
  const requests = await phones(relay, 1);
  await relay.faults([{ vendor: 'apns', ...fault }]);
  for (let minute = 0; minute < 5; minute += 1) {
    await relay.notify(requests);
    await relay.pass(1);
  }
  return async () => {
    await relay.faults([]);
    await relay.pass(2);
    await relay.notify(requests);
  };
}

function lose(path: string): () => void {
  renameSync(path, `${path}.lost`);
  return () => renameSync(`${path}.lost`, path);
}

export const relayIncidents: readonly RelayIncident[] = [
  {
    name: 'a vendor that is down',
    alert: 'WaxwingVendorOutage',
    check: 'vendors',
    cause: /the vendor has accepted no notification of apns:/,
    begin: (relay) => vendorFault(relay, { status: 503, reason: 'ServiceUnavailable' }),
  },
  {
    name: 'a revoked credential',
    alert: 'WaxwingCredentialRefused',
    check: 'vendors',
    cause: /InvalidProviderToken/,
    begin: (relay) => vendorFault(relay, { reason: 'InvalidProviderToken' }),
  },
  {
    name: 'a missing identity file',
    alert: 'WaxwingNotReady',
    check: 'keys',
    cause: /identity/,
    async begin(relay) {
      const end = lose(relay.ring.identityPath);
      await relay.pass(5);
      return end;
    },
  },
  {
    name: 'a key list that is not renewed',
    alert: 'WaxwingKeyListExpires',
    check: 'key list',
    cause: /The signed key list expires at .*Phones then refuse it/,
    async begin(relay) {
      const end = lose(relay.ring.path);
      await relay.passUntil(relay.keyListExpiresAt() - 3_600_000);
      await relay.pass(1);
      return end;
    },
  },
  {
    name: 'a lost apps file',
    alert: 'WaxwingReadinessWarning',
    check: 'files',
    cause: /the next start would fail/,
    async begin(relay) {
      const end = lose(join(relay.dir, 'apps.json'));
      await relay.pass(5);
      return end;
    },
  },
  {
    name: 'a database that accepts no writes',
    alert: 'WaxwingNotReady',
    check: 'database',
    cause: /the database cannot be written/,
    async begin(relay) {
      const end = await relay.refuseWrites();
      await relay.pass(5);
      return end;
    },
  },
  {
    name: 'a backup that holds the write-ahead log',
    alert: 'WaxwingDatabaseLogGrows',
    check: 'write-ahead log',
    cause: /passed 100 MB/,
    async begin(relay) {
      const reader = new DatabaseSync(relay.databaseFile);
      const writer = new DatabaseSync(relay.databaseFile);
      writer.exec('create table filler (bytes blob)');
      reader.exec('begin');
      reader.prepare('select count(*) from filler').get();
      for (let megabytes = 0; megabytes < 102; megabytes += 6) {
        writer.exec('insert into filler values (zeroblob(6000000))');
      }
      await relay.pass(2);
      return async () => {
        reader.close();
        await relay.until(() => {
          writer.exec('pragma wal_checkpoint(truncate)');
          return (relay.database.logBytes() ?? 0) < 50e6;
        });
        writer.close();
      };
    },
  },
  {
    name: 'a clock that was stepped',
    alert: undefined,
    check: 'clock',
    cause: /the clock jumped forward by 5 hours/,
    async begin(relay) {
      await relay.pass(1);
      relay.stepClock(5 * 3_600_000);
      await relay.pass(5);
      return () => relay.stepClock(-5 * 3_600_000);
    },
  },
  {
    name: 'a server that exhausts its quota',
    alert: 'WaxwingServerUsesQuota',
    check: 'quotas',
    cause: /The quota is used up/,
    environment: { RELAY_SERVER_NOTIFICATIONS_PER_MINUTE: '10' },
    async begin(relay) {
      const requests = await phones(relay, 10);
      for (let minute = 0; minute < 5; minute += 1) {
        relay.passSeconds(60);
        for (let count = 0; count < 5; count += 1) await relay.notify(requests);
        await relay.look();
      }
      return () => undefined;
    },
  },
  {
    name: 'requests beyond the capacity',
    alert: 'WaxwingRefusesRequests',
    check: 'refusals',
    cause: /More than one request a second is refused because of a limit: actor-requests/,
    environment: { RELAY_MAXIMUM_REQUESTS_PER_SERVER: '1' },
    async begin(relay) {
      const requests = await phones(relay, 1);
      await relay.faults([{ vendor: 'apns', latency_ms: 300 }]);
      const flood = () => Promise.all(Array.from({ length: 200 }, () => relay.notify(requests)));
      await flood();
      await relay.pass(1);
      await flood();
      await relay.pass(1);
      return () => relay.faults([]);
    },
  },
  {
    name: 'a mass unregistration',
    alert: 'WaxwingDeletionsFrozen',
    check: 'deletions',
    cause: /Unusually many tokens are dead: deletions are frozen for fcm:/,
    async begin(relay) {
      const requests = await Promise.all(
        Array.from({ length: 60 }, async (_, index) => {
          const account = BigInt(index + 1) as PushAccountId;
          const id = await relay.addFcm(`token ${index}`, {
            account,
            registeredAt: relay.now() - 86_400_000,
          });
          return fcmRequest(id, {
            payload: { push_account_id: String(account), encrypted_data: encryptedData },
          });
        }),
      );
      await relay.faults([{ vendor: 'fcm', status: 404, reason: 'UNREGISTERED' }]);
      await relay.notify(requests);
      await relay.pass(2);
      return async () => {
        const { frozen } = await relay.get('/deliveries/frozen');
        await relay.faults([]);
        for (const { app_id } of frozen) await relay.post('/deliveries/frozen/thaw', { app_id });
      };
    },
  },
  {
    name: 'jobs that were given up',
    alert: 'WaxwingDeadJobs',
    check: 'dead letters',
    cause: /The relay has given up on \d+ jobs?\./,
    async begin(relay) {
      const { jobs } = relay.database;
      // A scheduled job is abandoned if it cannot run for hours.
      relay.passSeconds(86_400);
      await relay.pass(2);
      return async () => {
        for (const { id } of await jobs.list({ state: 'dead', limit: 1000 })) await jobs.drop(id);
      };
    },
  },
  {
    name: 'a stuck queue',
    alert: 'WaxwingJobsLate',
    check: 'queue',
    cause: /Jobs have been due for more than ten minutes/,
    async begin(relay) {
      const { jobs } = relay.database;
      await relay.stopJobs();
      const job = { kind: 'deliver-notification', payload: '{}', giveUpAt: relay.now() + 86_400_000 };
      // The alert tolerates up to a hundred jobs.
      for (let count = 0; count < 101; count += 1) {
        await relay.database.write((transaction) => jobs.enqueue(transaction, job));
      }
      await relay.pass(12);
      return async () => {
        for (const { id } of await jobs.list({ limit: 200 })) await jobs.drop(id);
      };
    },
  },
  {
    name: 'a vendor that responds slowly',
    alert: 'WaxwingDeliveriesSlow',
    check: 'latency',
    cause: /One in twenty notifications to APNs takes more than ten seconds/,
    async begin(relay) {
      const requests = await phones(relay, 20);
      await relay.faults([{ vendor: 'apns', latency_ms: 500 }]);
      const answer = relay.notify(requests);
      await relay.until(async () => (await relay.statistics()).apns.production.requests >= 20);
      relay.passSeconds(11);
      await answer;
      await relay.pass(2);
      return () => relay.faults([]);
    },
  },
  {
    name: 'rejections by a vendor',
    alert: 'WaxwingDeliveriesRejected',
    check: 'rejections',
    cause: /More than a fifth of the notifications to APNs are rejected/,
    async begin(relay) {
      const requests = await phones(relay, 70);
      await relay.faults([{ vendor: 'apns', reason: 'PayloadTooLarge', status: 413 }]);
      await relay.notify(requests);
      await relay.pass(2);
      return () => relay.faults([]);
    },
  },
  {
    name: 'a key ring older than the database',
    alert: 'WaxwingTokensUnreadable',
    check: 'keys',
    cause: /the key ring cannot open 1 of the checked stored tokens/,
    async begin(relay) {
      const id = await relay.addApns(apnsToken());
      const { token_lookup } = await relay.device(id);
      const change = (lookup: string) =>
        relay.database.write(({ db }) =>
          db.updateTable('relay_devices').set({ token_lookup: lookup }).where('id', '=', id).execute(),
        );
      await change(`${token_lookup}x`);
      await relay.pass(5);
      return () => change(token_lookup);
    },
  },
];
