import type { RelayDeviceId } from '@waxwing/protocol';
import { type Kysely, sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import {
  deleteLongExpired,
  deleteRelayDevices,
  markExpired,
} from '#relay/registrations/store/relay-device-store.js';
import { withClient } from '../../simulation/fill-devices.js';
import { accountIdText, realmId as realm } from '../../support/ids.js';
import { partitionScript } from '../../support/partition-script.js';
import { eachPostgres } from '../../support/test-databases.js';
import { goodForm, startRelayUnderTest } from './relay-under-test.js';

/** Describes each index by its columns, without the names of the index and its table. */
async function indexes<Tables>(db: Kysely<Tables>): Promise<string[]> {
  const { rows } = await sql<{ covers: string }>`
    select substring(pg_get_indexdef(indexrelid) from ' USING (.*)$') as covers from pg_index
    where indrelid = 'relay_devices'::regclass order by 1`.execute(db);
  return rows.map(({ covers }) => covers);
}

async function references<Tables>(db: Kysely<Tables>): Promise<string[]> {
  const { rows } = await sql<{ definition: string }>`
    select pg_get_constraintdef(oid) as definition from pg_constraint
    where conrelid = 'relay_devices'::regclass and contype = 'f'`.execute(db);
  return rows.map(({ definition }) => definition);
}

describe('devices that were partitioned as docs/scaling.md describes', () => {
  eachPostgres((postgres) => {
    it('can be found, renewed, revived and removed, and no id is reused', async () => {
      const url = await postgres.freshUrl();
      const relay = await startRelayUnderTest(url);
      const { database } = relay;
      const register = async (id: string) =>
        (await relay.register(goodForm({ push_account_id: id }))).body.device_id as RelayDeviceId;
      const [first, second, removed] = [await register('1'), await register('2'), await register('3')];
      const [{ realm_id: realmId } = { realm_id: realm(0) }] = await relay.devices();
      await database.write(({ db }) =>
        deleteRelayDevices(db, realmId, [{ id: removed, addressee: undefined }]),
      );
      const rows = await relay.devices();
      const covered = await indexes(database.db);
      const referring = await references(database.db);
      await withClient(url, (client) => client.query(partitionScript()));

      expect(await relay.devices()).toEqual(rows);
      expect(await indexes(database.db)).toEqual(expect.arrayContaining(covered));
      expect(await references(database.db)).toEqual(referring);
      const added = await register('4');
      expect(added).toBeGreaterThan(removed);
      expect(await register('1')).toBe(first);
      const at = relay.time.now;
      const named = (relayDeviceId: RelayDeviceId, account: number) => {
        return { realmId, relayDeviceId, addressee: accountIdText(account) };
      };
      await database.write(({ db }) => markExpired(db, named(second, 2), { at, ifRegisteredBefore: at + 1 }));
      expect(await register('2')).toBe(second);
      await database.write(({ db }) => markExpired(db, named(first, 1), { at, ifRegisteredBefore: at + 1 }));
      expect(await database.write(({ db }) => deleteLongExpired(db, at + 1, 10))).toBe(1);
      expect((await relay.devices()).map(({ id }) => id)).toEqual([second, added]);
      await relay.close();
    });
  });
});
