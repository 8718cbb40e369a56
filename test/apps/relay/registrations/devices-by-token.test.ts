import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { findDevicesByToken } from '#relay/registrations/store/devices-by-token.js';
import { addServer } from '#relay/servers/manage-servers.js';
import { type RelayTables, relayMigrations } from '#relay/tables.js';
import { createNodeTokenVault } from '../../../support/node-token-vault.js';
import { eachPostgres } from '../../../support/test-databases.js';

const devices = 20_000;

eachPostgres((backend) => {
  it('looking up a token and its key uses indexes, regardless of the number of rows', async () => {
    const database = await backend.open<RelayTables>({ migrations: relayMigrations });
    await addServer(database, { name: 'ours', realmUuids: [randomUUID()] }, Date.now());
    await database.db.transaction().execute(async (db) => {
      const { id: realmId } = await db.selectFrom('realms').select('id').executeTakeFirstOrThrow();
      await sql`
        insert into relay_devices (realm_id, push_account_id, token_kind, token_lookup, token, registered_at)
        select ${realmId}::bigint, 'token:' || number, 'fcm', md5(number::text), repeat('x', 200), 0
        from generate_series(1, ${devices}) as number`.execute(db);
      await sql`
        insert into ended_keys (realm_id, push_account_id, push_key_id, ended_at)
        select ${realmId}::bigint, 'token:' || number % 10, number, number
        from generate_series(1, ${devices}) as number`.execute(db);
      await sql`analyze relay_devices, ended_keys`.execute(db);
      const rowsScanned = async () => {
        const { rows } = await sql<{ rows: string }>`
          select sum(seq_tup_read) as rows from pg_stat_xact_user_tables
          where relname in ('relay_devices', 'ended_keys')`.execute(db);
        return Number(rows[0]?.rows);
      };
      const before = await rowsScanned();
      const found = await findDevicesByToken(
        db,
        [
          { realmId, addressee: 'token:7', pushKeyId: 17 },
          { realmId, addressee: 'token:none', pushKeyId: 17 },
        ],
        createNodeTokenVault(),
      );
      expect(found.idOf(realmId, 'token:7')).toBeGreaterThan(0);
      const notification = { realmId, addressee: 'token:7', pushKeyId: 17 };
      expect(found.hasEndedKey({ ...notification, receivedAt: 60_017 })).toBe(true);
      expect(found.hasEndedKey({ ...notification, receivedAt: 60_018 })).toBe(false);
      expect((await rowsScanned()) - before).toBe(0);
    });
  });
});
