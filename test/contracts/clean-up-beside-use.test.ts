import type { DatabaseWithJobs } from '@waxwing/jobs';
import type { MigrationSet, WriteTransaction } from '@waxwing/storage';
import { sql, type Transaction } from 'kysely';
import { describe, expect, it } from 'vitest';
import { deleteLongExpired } from '#relay/registrations/store/relay-device-store.js';
import { type RelayTables, relayMigrations } from '#relay/tables.js';
import {
  deleteIdleQueues,
  queueLifetimeMilliseconds,
} from '#server/platform/event-queues/event-queue-store.js';
import { type ServerTables, serverMigrations } from '#server/tables.js';
import { deleteLongFailed } from '#server-push/push-devices/push-device-store.js';
import { lockWaiters } from '../support/lock-waiters.js';
import { eachPostgres } from '../support/test-databases.js';

const now = 1_800_000_000_000;

interface Race<Tables> {
  readonly database: DatabaseWithJobs<Tables>;
  /** Concurrent work that is not yet committed when the removal starts. */
  use(db: Transaction<Tables>): Promise<unknown>;
  remove(transaction: WriteTransaction<Tables>): Promise<number>;
}

/** Returns the number of rows that are removed even though another transaction uses them. */
async function removedInSpiteOfUse<Tables>({ database, use, remove }: Race<Tables>): Promise<number> {
  let removing: Promise<number> | undefined;
  await database.db.transaction().execute(async (db) => {
    await use(db);
    removing = database.write(remove);
    await expect.poll(() => lockWaiters(database.db), { timeout: 20_000 }).toBe(1);
  });
  return (await removing) ?? Number.NaN;
}

describe('a concurrent clean-up', () => {
  eachPostgres((postgres) => {
    const open = <Tables>(migrations: readonly MigrationSet[]) => postgres.open<Tables>({ migrations });

    it('keeps a device that a registration revives', async () => {
      const database = await open<RelayTables>(relayMigrations);
      await sql`insert into servers (id, name, key_hash, created_at) values ('s', '', '', 0)`.execute(
        database.db,
      );
      await sql`insert into realms (uuid, server_id, created_at) values ('r', 's', 0)`.execute(database.db);
      await sql`insert into relay_devices (realm_id, token_kind, token_lookup, token, registered_at, expired_at)
        select id, 'fcm', '', '', 0, 0 from realms`.execute(database.db);
      const removed = await removedInSpiteOfUse({
        database,
        use: (db) => db.updateTable('relay_devices').set({ expired_at: null }).execute(),
        remove: ({ db }) => deleteLongExpired(db, now, 10),
      });
      expect(removed).toBe(0);
    });

    it('keeps a failed device that registers again', async () => {
      const database = await open<ServerTables>(serverMigrations);
      await sql`insert into push_devices (user_id, push_account_id, generation, registration_hash, error_code, changed_at)
        values (1, '1', 1, '', 'BAD_REQUEST', 0)`.execute(database.db);
      const removed = await removedInSpiteOfUse({
        database,
        use: (db) => db.updateTable('push_devices').set({ error_code: null, changed_at: now }).execute(),
        remove: (transaction) => deleteLongFailed(transaction, now, 10),
      });
      expect(removed).toBe(0);
    });

    it('keeps an event queue that its client uses again', async () => {
      const database = await open<ServerTables>(serverMigrations);
      await sql`insert into users (email, email_lower, full_name, role, is_bot, api_key_hash, is_active, created_at)
        values ('', '', '', 400, 0, '', 1, 0)`.execute(database.db);
      await sql`insert into event_queues (queue_id, user_id, last_event_id, acknowledged_event_id, last_used_at)
        select 'q', id, -1, -1, ${now - queueLifetimeMilliseconds} from users`.execute(database.db);
      const removed = await removedInSpiteOfUse({
        database,
        use: (db) => db.updateTable('event_queues').set({ last_used_at: now }).execute(),
        remove: ({ db }) => deleteIdleQueues(db, now, 10),
      });
      expect(removed).toBe(0);
    });
  });
});
