import { expect, it } from 'vitest';
import { raiseDeviceIds } from '#relay/registrations/store/raise-device-ids.js';
import type { RelayDatabase } from '#relay/tables.js';
import { eachBackend } from '../../../support/test-databases.js';
import { goodForm, startRelayUnderTest } from '../relay-under-test.js';

eachBackend((backend) => {
  it('no id is reused after a restore, even if the clock was wrong earlier', async () => {
    const relay = await startRelayUnderTest(await backend.freshUrl());
    let accounts = 0;
    async function register(): Promise<number> {
      accounts += 1;
      const { status, body } = await relay.register(goodForm({ push_account_id: `${accounts}` }));
      expect(status).toBe(200);
      return body.device_id as number;
    }
    const restart = (database: RelayDatabase, now: number) => raiseDeviceIds(database, () => now);
    const { now } = relay.time;
    const first = await register();
    expect(first).toBeGreaterThan(now * 256);
    // A start raises the counter to 256 times the time in milliseconds, so a later start skips all of these ids.
    await restart(relay.database, now + 1000);
    expect(await register()).toBeGreaterThan(first + 255_000);
    const before = await register();
    for (const past of [now, 0, -1]) await restart(relay.database, past);
    expect(await register()).toBe(before + 1);
    await restart(relay.database, Date.UTC(9999, 0));
    const far = await register();
    expect(far).toBe(2 ** 52 + 1);
    await restart(relay.database, now + 2000);
    await restart(relay.database, Number.MAX_SAFE_INTEGER);
    expect(await register()).toBe(far + 1);
    await relay.close();
  });
});
