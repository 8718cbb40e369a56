import { type ServerPushTables, serverPushMigrations } from '@waxwing/server-push';
import { expect, it } from 'vitest';
import { sortFreedDevices } from '#server-push/push-devices/push-device-store.js';
import { accountIdText, relayDeviceId, userId } from '../../support/ids.js';
import { plansOf } from '../../support/query-plans.js';
import { eachBackend } from '../../support/test-databases.js';

const device = (id: number, account: number) => ({
  relayDeviceId: relayDeviceId(id),
  pushAccountId: accountIdText(account),
});

eachBackend((backend) => {
  const open = () => backend.open<ServerPushTables>({ migrations: [serverPushMigrations], now: () => 0 });

  it('removed devices are looked up by their accounts', async () => {
    const { db } = await open();
    const plans = await plansOf(db, (watched) => sortFreedDevices(watched, [device(1, 10)]));
    expect(plans).toMatch(/push_devices_account\b/);
    expect(plans).not.toMatch(/SCAN push_devices|Seq Scan/);
  });

  it('a freed device is in use only by its own account, and undecided while that account registers', async () => {
    const database = await open();
    const rows = [
      { account: 10, id: 1, pending: null },
      { account: 20, id: 2, pending: 'fcm' },
      { account: 30, id: 3, pending: 'fcm' },
    ] as const;
    await database.write(async ({ db }) => {
      for (const { account, id, pending } of rows) {
        await db
          .insertInto('push_devices')
          .values({
            user_id: userId(account),
            push_account_id: accountIdText(account),
            generation: 1,
            registration_hash: 'a',
            changed_at: 0,
            relay_device_id: relayDeviceId(id),
            pending_token_kind: pending,
          })
          .execute();
      }
    });
    const freed = [device(1, 10), device(1, 11), device(3, 20), device(2, 20), device(3, 10)];
    expect(await sortFreedDevices(database.db, freed)).toEqual({
      free: [device(1, 11), device(3, 10)],
      undecided: [device(3, 20)],
    });
  });
});
