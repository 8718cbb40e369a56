import { expect, it } from 'vitest';
import { ReceiptStore, saveReceipts } from '#relay/deliveries/queue/receipt-store.js';
import { type RelayTables, relayMigrations } from '#relay/tables.js';
import { accountIdText, relayDeviceId } from '../../../support/ids.js';
import { eachBackend } from '../../../support/test-databases.js';

const dayMilliseconds = 86_400_000;
const now = 1_800_000_000_000;

eachBackend((backend) => {
  it('receipts are forgotten a day after they were settled, three if the job was lost, many at a time', async () => {
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
          ...{
            serverId: 'server',
            notificationId: `${group} ${index}`,
            relayDeviceId: relayDeviceId(index),
            pushAccountId: accountIdText(1),
            status,
          },
          ...{ reason: undefined, fault: undefined, attempts: 1, updatedAt: now - days * dayMilliseconds },
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
});
