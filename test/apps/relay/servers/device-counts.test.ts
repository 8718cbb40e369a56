import { Metrics } from '@waxwing/service/metrics';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DeviceGauge } from '#relay/servers/device-counts.js';
import { eachBackend } from '../../../support/test-databases.js';
import { type RelayUnderTest, startRelayUnderTest } from '../relay-under-test.js';

eachBackend((backend) => {
  let relay: RelayUnderTest;
  beforeAll(async () => {
    relay = await startRelayUnderTest(await backend.freshUrl());
  });
  afterAll(() => relay.close());

  /** Adds `count` devices. Every third device is expired. */
  async function add(count: number, kind: string, addressee: string): Promise<void> {
    await sql`with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${sql.lit(count)})
      insert into relay_devices (realm_id, push_account_id, token_kind, token_lookup, token, registered_at, expired_at)
      select (select min(id) from realms), ${sql.lit(addressee)} || cast(n as text), ${sql.lit(kind)}, 'x', 'x', 1,
        case when n % 3 = 0 then 2 end from numbers`.execute(relay.database.db);
  }

  it('the gauge counts valid devices on all pages by generation and vendor', async () => {
    await add(3, 'apns', '100000');
    await add(6000, 'fcm', '');
    await add(6000, 'apns', 'token:');
    await add(3, 'fcm', 'token:f');
    await add(1, 'fcm', 'user:');
    await add(2, 'kind of a later version', '20000');
    const metrics = new Metrics();
    const gauge = new DeviceGauge({ database: relay.database, log: relay.context.log, metrics });
    await Promise.all([gauge.count(), gauge.count()]);
    await gauge.stop();
    expect(gauge.total).toBe(8005);
    const lines = (await metrics.text())
      .split('\n')
      .filter((line) => line.startsWith('waxwing_relay_devices{'));
    expect(lines.toSorted()).toEqual([
      'waxwing_relay_devices{generation="plaintext",vendor="apns"} 0',
      'waxwing_relay_devices{generation="plaintext",vendor="fcm"} 1',
      'waxwing_relay_devices{generation="plaintext",vendor="webpush"} 0',
      'waxwing_relay_devices{generation="v1",vendor="apns"} 2',
      'waxwing_relay_devices{generation="v1",vendor="fcm"} 4000',
      'waxwing_relay_devices{generation="v1",vendor="webpush"} 0',
      'waxwing_relay_devices{generation="v2",vendor="apns"} 4000',
      'waxwing_relay_devices{generation="v2",vendor="fcm"} 2',
      'waxwing_relay_devices{generation="v2",vendor="webpush"} 0',
    ]);
  });
});
