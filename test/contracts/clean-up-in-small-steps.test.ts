import type { Database, WriteTransaction } from '@waxwing/storage';
import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { deleteLongExpired } from '#relay/registrations/store/relay-device-store.js';
import { type RelayTables, relayMigrations } from '#relay/tables.js';
import {
  deleteIdleQueues,
  queueLifetimeMilliseconds,
} from '#server/platform/event-queues/event-queue-store.js';
import { type ServerTables, serverMigrations } from '#server/tables.js';
import { deleteOldTestNotifications } from '#server-push/notifications/test-notification-limits.js';
import { deleteLongFailed } from '#server-push/push-devices/push-device-store.js';
import { deleteFullRates } from '#server-push/registrations/registration-rate.js';
import { lockWaiters } from '../support/lock-waiters.js';
import { eachBackend, eachPostgres } from '../support/test-databases.js';

const now = 1_800_000_000_000;

interface CleanUp<Tables> {
  readonly database: Database<Tables>;
  remove(transaction: WriteTransaction<Tables>): Promise<number>;
}

/** Returns the number of rows that each of three steps removes. */
async function threeSteps<Tables>({ database, remove }: CleanUp<Tables>): Promise<number[]> {
  return [await database.write(remove), await database.write(remove), await database.write(remove)];
}

// In each test, some rows to remove are stored behind rows that are still needed.
describe('a clean-up of one row per step', () => {
  eachBackend((backend) => {
    describe('on a server', () => {
      let database: Database<ServerTables>;
      beforeEach(async () => {
        database = await backend.open<ServerTables>({ migrations: serverMigrations });
        await sql`insert into users (email, email_lower, full_name, role, is_bot, api_key_hash, is_active, created_at)
          values ('', '', '', 400, 0, '', 1, 0)`.execute(database.db);
      });

      it('removes all idle event queues and no others', async () => {
        const idleSince = now - queueLifetimeMilliseconds;
        await sql`insert into event_queues (queue_id, user_id, last_event_id, acknowledged_event_id, last_used_at)
          select 'a', id, -1, -1, cast(${idleSince + 1} as bigint) from users union all
          select 'b', id, -1, -1, cast(${idleSince} as bigint) from users union all
          select 'c', id, -1, -1, cast(${now} as bigint) from users union all
          select 'd', id, -1, -1, cast(0 as bigint) from users`.execute(database.db);
        expect(await threeSteps({ database, remove: ({ db }) => deleteIdleQueues(db, now, 1) })).toEqual([
          1, 1, 0,
        ]);
        const left = await database.db.selectFrom('event_queues').select('queue_id').execute();
        expect(left.map(({ queue_id }) => queue_id).sort()).toEqual(['a', 'c']);
      });

      it('removes all registration limits that are full again and no others', async () => {
        await sql`insert into registration_rates (user_id, full_at)
          values (1, ${now + 1}), (2, ${now}), (3, ${now + 60_000}), (4, 0)`.execute(database.db);
        const remove = (transaction: WriteTransaction<ServerTables>) => deleteFullRates(transaction, now, 1);
        expect(await threeSteps({ database, remove })).toEqual([1, 1, 0]);
      });

      it('removes all old records of test notifications and no others', async () => {
        const hourAgo = now - 3_600_000;
        await sql`insert into test_notifications (user_id, sent_at)
          values (1, ${hourAgo + 1}), (1, ${hourAgo}), (1, ${now}), (1, 0)`.execute(database.db);
        const remove = (transaction: WriteTransaction<ServerTables>) =>
          deleteOldTestNotifications(transaction, now, 1);
        expect(await threeSteps({ database, remove })).toEqual([1, 1, 0]);
      });

      it('removes old failed devices without an active registration and no others', async () => {
        await sql`insert into push_devices
          (user_id, push_account_id, generation, registration_hash, error_code, changed_at, relay_device_id)
          values (1, '1', 1, '', 'BAD_REQUEST', ${now}, null), (1, '2', 1, '', null, 0, null),
            (1, '3', 1, '', 'BAD_REQUEST', 0, 7), (1, '4', 1, '', 'BAD_REQUEST', ${now - 1}, null),
            (1, '5', 1, '', 'BAD_REQUEST', 0, null)`.execute(database.db);
        const remove = (transaction: WriteTransaction<ServerTables>) => deleteLongFailed(transaction, now, 1);
        expect(await threeSteps({ database, remove })).toEqual([1, 1, 0]);
        const left = await database.db.selectFrom('push_devices').select('push_account_id').execute();
        expect(left.map(({ push_account_id: id }) => id).sort()).toEqual(['1', '2', '3']);
      });
    });

    it('removes all old expired devices of a relay and no others', async () => {
      const database = await backend.open<RelayTables>({ migrations: relayMigrations });
      await addDevices(database, { a: now, b: now - 1, c: null, d: 0 });
      expect(await threeSteps({ database, remove: ({ db }) => deleteLongExpired(db, now, 1) })).toEqual([
        1, 1, 0,
      ]);
      const left = await database.db.selectFrom('relay_devices').select('token_lookup').execute();
      expect(left.map(({ token_lookup }) => token_lookup).sort()).toEqual(['a', 'c']);
    });
  });
});

eachPostgres((backend) => {
  it('clean-up keeps a device that registers again during the removal', async () => {
    const database = await backend.open<RelayTables>({ migrations: relayMigrations });
    await addDevices(database, { a: 0, b: 0 });
    const { removing } = await database.db.transaction().execute(async (db) => {
      await sql`update relay_devices set expired_at = null where token_lookup = 'a'`.execute(db);
      const removing = database.write(({ db }) => deleteLongExpired(db, now, 10));
      const count = () => lockWaiters(database.db, 'delete from "relay_devices" %');
      await expect.poll(count, { timeout: 20_000 }).toBe(1);
      return { removing };
    });
    expect(await removing).toBe(1);
    const left = await database.db.selectFrom('relay_devices').select('token_lookup').execute();
    expect(left).toEqual([{ token_lookup: 'a' }]);
  });
});

/** Adds devices of one realm with these lookups and expiry times. */
async function addDevices(
  { db }: Database<RelayTables>,
  expiredAt: Readonly<Record<string, number | null>>,
): Promise<void> {
  await sql`insert into servers (id, name, key_hash, created_at) values ('s', '', '', 0)`.execute(db);
  await sql`insert into realms (uuid, server_id, created_at) values ('r', 's', 0)`.execute(db);
  for (const [lookup, at] of Object.entries(expiredAt)) {
    await sql`insert into relay_devices (realm_id, token_kind, token_lookup, token, registered_at, expired_at)
      select id, 'fcm', ${lookup}, '', 0, cast(${at} as bigint) from realms`.execute(db);
  }
}
