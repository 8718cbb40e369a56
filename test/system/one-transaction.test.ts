import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterEach, describe, expect, it } from 'vitest';
import { fcmRequest, startDeliveriesUnderTest } from '../apps/relay/deliveries/deliveries-under-test.js';
import { ServerUnderTest, testPhone } from '../apps/server/server-under-test.js';
import { registered } from '../support/relay-stand-in.js';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** Makes every change of this kind to a table fail, to simulate that the process dies at that statement. */
function refuse(
  database: { readonly db: object },
  change: 'insert on' | 'delete on' | 'update on',
  table: string,
) {
  return sql`create trigger ${sql.raw(`refuse_${table}`)} before ${sql.raw(change)} ${sql.table(table)}
    begin select raise(abort, 'refused'); end`.execute(database.db as never);
}

function allow(database: { readonly db: object }, table: string) {
  return sql`drop trigger ${sql.raw(`refuse_${table}`)}`.execute(database.db as never);
}

describe('a single transaction', () => {
  it('stores a registration at the server together with the job that forwards it', async () => {
    const test = await ServerUnderTest.start();
    closers.push(() => test.close());
    const ada = await test.addAccount('ada@example.com');
    await refuse(test.server.database, 'insert on', 'jobs');
    expect((await test.register(ada, testPhone('1').fields)).status).toBe(500);
    expect(await test.pushDevices(ada)).toEqual({});
  });

  it('stores the relay’s result, the end of its job, and the event for the phone', async () => {
    const test = await ServerUnderTest.start();
    closers.push(() => test.close());
    const ada = await test.addAccount('ada@example.com');
    const events = await test.openQueue(ada);
    test.relay.otherwise(registered(7));
    await test.settle();
    for (const [change, table] of [
      ['insert on', 'queued_events'],
      ['delete on', 'jobs'],
      ['update on', 'push_devices'],
    ] as const) {
      const id = String(table.length);
      if (table === 'push_devices') await test.register(ada, testPhone(id).fields);
      await refuse(test.server.database, change, table);
      if (table !== 'push_devices') await test.register(ada, testPhone(id).fields);
      const before = await events();
      await test.settle();
      expect(await test.pushDevices(ada)).toMatchObject({ [id]: { status: 'pending' } });
      expect(await events()).toEqual(before);
      await allow(test.server.database, table);
      test.now += 60_000;
      await test.settle();
      expect(await test.pushDevices(ada)).toMatchObject({ [id]: { status: 'active' } });
      expect(await events()).toHaveLength(before.length + 1);
    }
  });

  it('stores a notification that the relay queues together with its receipt', async () => {
    const relay = await startDeliveriesUnderTest();
    closers.push(() => relay.close());
    const device = await relay.addFcm('token');
    await relay.faults([{ vendor: 'fcm', status: 503 }]);
    await refuse(relay.database, 'insert on', 'jobs');
    const id = randomUUID();
    expect((await relay.notify([fcmRequest(device, { notification_id: id })])).status).toBe(500);
    expect(await relay.receipts([id])).toEqual([]);
    await allow(relay.database, 'jobs');
    await refuse(relay.database, 'insert on', 'delivery_receipts');
    expect((await relay.notify([fcmRequest(device, { notification_id: id })])).status).toBe(500);
    expect(await relay.database.jobs.list({ kind: 'deliver-notification' })).toEqual([]);
  });
});
