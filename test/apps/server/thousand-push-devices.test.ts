import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { accountIdText, relayDeviceId, userId } from '../../support/ids.js';
import { type Account, ServerUnderTest, testPhone } from './server-under-test.js';

let test: ServerUnderTest;
let ada: Account;

beforeEach(async () => {
  test = await ServerUnderTest.start();
  ada = await test.addAccount('Ada@example.com');
});
afterEach(() => test.close());

describe('a user with a thousand devices', () => {
  async function fill(errorCodeOf: (index: number) => string | null): Promise<void> {
    const { db } = test.server.database;
    const rows = Array.from({ length: 1000 }, (_, index) => ({
      user_id: ada.userId,
      push_account_id: accountIdText(index),
      generation: 1,
      registration_hash: '',
      error_code: errorCodeOf(index),
      changed_at: 1_000_000 - index,
      pending_token_kind: errorCodeOf(index) === null ? ('fcm' as const) : null,
    }));
    for (let start = 0; start < rows.length; start += 100) {
      await db
        .insertInto('push_devices')
        .values(rows.slice(start, start + 100))
        .execute();
    }
  }

  it('loses the device that failed first when a new device registers', async () => {
    await fill((index) => (index === 5 || index === 9 ? 'REQUEST_EXPIRED' : null));
    expect((await test.register(ada, testPhone('123456').fields)).status).toBe(200);
    const devices = (await test.pushDevices(ada)) as Record<string, unknown>;
    expect(Object.keys(devices)).toHaveLength(1000);
    expect(devices).not.toHaveProperty('9');
    expect(devices).toHaveProperty('5');
    expect(devices).toHaveProperty('123456');
  });

  it('loses a failed device that never worked before one that still works, and no device of another user', async () => {
    await fill((index) => (index === 5 || index === 9 ? 'REQUEST_EXPIRED' : null));
    const { db } = test.server.database;
    await db
      .updateTable('push_devices')
      .set({ relay_device_id: relayDeviceId(7) })
      .where('push_account_id', '=', accountIdText(9))
      .execute();
    await db
      .insertInto('push_devices')
      .values({
        user_id: userId(ada.userId + 1),
        push_account_id: accountIdText(-1),
        generation: 1,
        registration_hash: '',
        error_code: 'REQUEST_EXPIRED',
        changed_at: test.now,
      })
      .execute();
    expect((await test.register(ada, testPhone('123456').fields)).status).toBe(200);
    const devices = await test.pushDevices(ada);
    expect(devices).not.toHaveProperty('5');
    expect(devices).toHaveProperty('9');
    const others = db.selectFrom('push_devices').select('push_account_id').where('user_id', '!=', ada.userId);
    expect(await others.execute()).toEqual([{ push_account_id: '-1' }]);
  });

  it('can change a device, but cannot add one while none has failed', async () => {
    await fill(() => null);
    const refusal = await test.register(ada, testPhone('123456').fields);
    expect([refusal.status, refusal.body.code]).toEqual([400, 'BAD_REQUEST']);
    expect(refusal.body.msg).toContain('1000 registered push devices');
    expect(await test.pushDevices(ada)).not.toHaveProperty('123456');
    expect((await test.register(ada, testPhone('7').fields)).status).toBe(200);
  });
});
