import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { enqueueNotification } from '#server-push/notifications/deliver-notification.js';
import { type Account, ServerUnderTest, testPhone } from '../../apps/server/server-under-test.js';
import { idle } from '../../support/idle.js';
import { notified, registered } from '../../support/relay-stand-in.js';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

let test: ServerUnderTest;
let ada: Account;

beforeEach(async () => {
  test = await ServerUnderTest.start();
  ada = await test.addAccount('ada@example.com');
});

afterEach(() => test.close());

/** Advances the server's clock minute by minute, and runs the jobs that become due. */
async function pass(milliseconds: number): Promise<void> {
  const until = test.now + milliseconds;
  while (test.now < until) {
    test.now = Math.min(until, test.now + minute);
    await test.settle();
  }
}

describe('a server whose relay is unreachable for an hour', () => {
  it('loses no registration, and activates all within an hour after the relay is back', async () => {
    test.relay.otherwise('cut');
    const ids = ['1', '-2', '9223372036854775807'];
    for (const id of ids) expect((await test.register(ada, testPhone(id).fields)).status).toBe(200);
    await pass(hour);
    const pending = { status: 'pending', error_code: null };
    expect(await test.pushDevices(ada)).toEqual(Object.fromEntries(ids.map((id) => [id, pending])));
    // Retry delays increase, so that a recovering relay is not overloaded.
    expect(test.relay.requests.length).toBeGreaterThan(3 * ids.length);
    expect(test.relay.requests.length).toBeLessThan(20 * ids.length);

    test.relay.otherwise(registered(7));
    await pass(hour);
    const active = { status: 'active', error_code: null };
    expect(await test.pushDevices(ada)).toEqual(Object.fromEntries(ids.map((id) => [id, active])));
  });

  it('runs its pending jobs as soon as the relay is back, spread by a short jitter', async () => {
    test.relay.otherwise('cut');
    const ids = Array.from({ length: 20 }, (_, index) => String(index + 1));
    for (const id of ids) expect((await test.register(ada, testPhone(id).fields)).status).toBe(200);
    await pass(hour);
    test.relay.otherwise(registered(7));
    // The first request detects that the relay is back.
    expect((await test.register(ada, testPhone('21').fields)).status).toBe(200);
    const before = test.relay.requests.length;
    // The server reschedules the pending jobs to run now, concurrently with that registration.
    const atOnce = async () => {
      await test.settle();
      return test.relay.requests.length - before;
    };
    await expect.poll(atOnce).toBeGreaterThan(1);
    expect(await atOnce()).toBeLessThan(10);
    for (let step = 0; step < 10; step++) {
      test.now += 100;
      await test.settle();
    }
    const active = { status: 'active', error_code: null };
    expect(await test.pushDevices(ada)).toEqual(Object.fromEntries([...ids, '21'].map((id) => [id, active])));
  });

  it('runs pending jobs as soon as the relay is back, even after a restart', async () => {
    test.relay.otherwise('cut');
    expect((await test.register(ada, testPhone('1').fields)).status).toBe(200);
    await pass(hour);
    await test.stop();
    test.relay.otherwise(registered(7));
    await test.boot();
    await idle(test.server.database.jobs);
    expect((await test.register(ada, testPhone('2').fields)).status).toBe(200);
    const settled = async () => {
      await test.settle();
      return await test.pushDevices(ada);
    };
    const active = { status: 'active', error_code: null };
    await expect.poll(settled).toEqual({ 1: active, 2: active });
  });

  it('loses no notification that has not expired', async () => {
    test.relay.otherwise(registered(7));
    await test.register(ada, testPhone('1').fields);
    await test.settle();
    test.relay.otherwise('cut');
    const content = { type: 'test', time: 1_773_230_400 } as const;
    const { database } = test.server;
    const options = { database, clock: () => test.now } as never;
    const giveUpAt = test.now + day;
    await database.write((transaction) =>
      enqueueNotification(options, transaction, { userId: ada.userId, content, giveUpAt }),
    );
    await pass(hour);
    test.relay.otherwise(notified());
    const before = test.relay.requests.length;
    await pass(hour);
    expect(test.relay.requests.slice(before).map(({ path }) => path)).toEqual([
      '/api/v1/remotes/push/e2ee/notify',
    ]);
  });
});
