import type { MigrationSet } from '@waxwing/storage';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { deliveryMigrations } from '#relay/deliveries/delivery-tables.js';
import { ReceiptStore, saveReceipts } from '#relay/deliveries/queue/receipt-store.js';
import { addServer } from '#relay/servers/manage-servers.js';
import { type RelayTables, relayMigrations } from '#relay/tables.js';
import { accountIdText, relayDeviceId } from '../../../support/ids.js';
import { eachBackend } from '../../../support/test-databases.js';

const realmUuid = '9aa61d0b-8ce5-488d-8e9e-fedc346e6836';
const dayMilliseconds = 86_400_000;
const now = 1_800_000_000_000;

eachBackend((backend) => {
  it('deletes receipts one day after they settled, and queued receipts without a job after three days', async () => {
    const database = await backend.open<RelayTables>({ migrations: relayMigrations });
    const receipts = [
      { status: 'sent', days: 1, count: 1 },
      { status: 'rejected', days: 1.1, count: 600 },
      { status: 'queued', days: 2.9, count: 1 },
      { status: 'queued', days: 3.1, count: 2 },
    ] as const;
    await database.write(async ({ db }) => {
      for (const [group, { status, days, count }] of receipts.entries()) {
        const many = Array.from({ length: count }, (_, index) => ({
          serverId: 'server',
          notificationId: `${group} ${index}`,
          relayDeviceId: relayDeviceId(index),
          addressee: accountIdText(1),
          status,
          reason: undefined,
          fault: undefined,
          attempts: 1,
          updatedAt: now - days * dayMilliseconds,
        }));
        await saveReceipts(db, many);
      }
    });
    const store = new ReceiptStore(database);
    expect(await store.forgetOld(now, new AbortController().signal)).toBe(602);
    const left = await store.find('server', ['0 0', '1 0', '2 0', '3 0']);
    expect(left.map(({ notificationId }) => notificationId).sort()).toEqual(['0 0', '2 0']);
    expect(await store.forgetOld(now, new AbortController().signal)).toBe(0);
  });

  it('migrates receipts to the account of their device, or to account 0 without a device', async () => {
    const url = await backend.freshUrl();
    const { '0004-receipts-by-account': _newer, ...migrations } = deliveryMigrations.migrations;
    const older: MigrationSet = { ...deliveryMigrations, migrations };
    const sets = relayMigrations.map((set) => (set === deliveryMigrations ? older : set));
    const before = await backend.open<RelayTables>({ url, migrations: sets });
    const { serverId } = await addServer(before, { name: 'ours', realmUuids: [realmUuid] }, now);
    await before.write(async ({ db }) => {
      await sql`insert into relay_devices (realm_id, push_account_id, token_kind, token_lookup, token, registered_at)
        select id, '9223372036854775807', 'fcm', 'a', 'b', 0 from realms`.execute(db);
      await sql`insert into delivery_receipts
          (server_id, notification_id, relay_device_id, status, attempts, updated_at, doubts, not_before)
        select ${serverId}, 'n', id, 'queued', 2, ${sql.lit(now)}, 1, 7 from relay_devices
        union all select ${serverId}, 'n', id + 1, 'sent', 1, ${sql.lit(now)}, 0, null from relay_devices`.execute(
        db,
      );
    });
    await before.close();
    const after = await backend.open<RelayTables>({ url, migrations: relayMigrations });
    const receipts = await new ReceiptStore(after).find(serverId, ['n']);
    expect(receipts.sort((one, other) => one.relayDeviceId - other.relayDeviceId)).toMatchObject([
      { addressee: '9223372036854775807', status: 'queued', attempts: 2, doubts: 1, notBefore: 7 },
      { addressee: '0', status: 'sent', attempts: 1, doubts: 0, notBefore: undefined },
    ]);
  });
});
