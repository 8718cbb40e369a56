import { type ServerPushTables, serverPushMigrations } from '@waxwing/server-push';
import { isPostgres } from '@waxwing/storage';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { relayDevicesInUse } from '#server-push/push-devices/push-device-store.js';
import { accountIdText, relayDeviceId } from '../../support/ids.js';
import { plansOf } from '../../support/query-plans.js';
import { eachBackend } from '../../support/test-databases.js';

eachBackend((backend) => {
  it("the relay's devices are looked up among those in force and those that wait", async () => {
    const { db } = await backend.open<ServerPushTables>({ migrations: [serverPushMigrations], now: () => 0 });
    const freed = [{ relayDeviceId: relayDeviceId(1), pushAccountId: accountIdText('10') }];
    const plans = await plansOf(db, (watched) => relayDevicesInUse(watched, freed));
    expect(plans).toMatch(/push_devices_relay_device\b/);
    expect(plans).toMatch(/push_devices_account\b/);
    expect(plans).not.toMatch(/SCAN push_devices|Seq Scan/);
    // What was never in force is not written there.
    const definition = isPostgres(db)
      ? sql`select indexdef as text from pg_indexes where indexname = 'push_devices_relay_device'`
      : sql`select sql as text from sqlite_master where name = 'push_devices_relay_device'`;
    const { rows } = await definition.execute(db);
    expect(rows).toEqual([{ text: expect.stringMatching(/where \(?relay_device_id is not null/i) }]);
  });
});
