import { Secret } from '@waxwing/service/config';
import { expect, it } from 'vitest';
import { openRelayDatabase } from '#relay/open-database.js';
import { type RelayDeviceRow, RelayDeviceUpsert } from '#relay/registrations/write/relay-device-upsert.js';
import { addServer } from '#relay/servers/manage-servers.js';
import fc from '../../../support/fast-check.js';
import { accountIdText, realmId } from '../../../support/ids.js';
import { eachBackend } from '../../../support/test-databases.js';
import { otherRealmUuid, realmUuid } from '../relay-under-test.js';

const device = fc.record({
  realm_id: fc.constantFrom(realmId(1), realmId(2)),
  push_account_id: fc.integer({ min: 1, max: 12 }).map(accountIdText),
  token_lookup: fc.constantFrom('one', 'two', 'three'),
  ios_app_id: fc.constantFrom(null, 'org.example.App', 'org.example.Beta'),
});
const groups = fc.array(fc.array(device, { minLength: 1, maxLength: 150 }), { minLength: 1, maxLength: 4 });

eachBackend((backend) => {
  it('each device has one row with a stable id and its latest values, for any batching', async () => {
    const url = new Secret(await backend.freshUrl());
    const database = await openRelayDatabase({
      url,
      clock: Date.now,
      role: 'serving',
      onJobError: expect.fail,
    });
    await addServer(database, { name: '', realmUuids: [realmUuid, otherRealmUuid] }, 0);
    const upsert = new RelayDeviceUpsert(database.db);
    const known = new Map<string, { readonly id: number; last: RelayDeviceRow }>();
    let registeredAt = 0;

    await fc.assert(
      fc.asyncProperty(groups, async (arriving) => {
        for (const group of arriving) {
          const rows = group.map((fields) => toRow(fields, ++registeredAt));
          const ids = await database.write(({ db }) => upsert.run(db, rows));
          expect(ids).toHaveLength(rows.length);
          rows.forEach((row, index) => {
            const id = ids[index] as number;
            const before = known.get(identityOf(row));
            if (before !== undefined) expect(id).toBe(before.id);
            known.set(identityOf(row), { id, last: row });
          });
        }
        expect(new Set([...known.values()].map(({ id }) => id)).size).toBe(known.size);
      }),
      { numRuns: 25 },
    );

    const stored = await database.db.selectFrom('relay_devices').selectAll().execute();
    expect(stored).toHaveLength(known.size);
    for (const row of stored) {
      expect(row).toEqual({ ...known.get(identityOf(row as RelayDeviceRow))?.last, id: row.id });
    }
    await database.close();
  });
});

function toRow(
  fields: Pick<RelayDeviceRow, 'realm_id' | 'push_account_id' | 'token_lookup'> & {
    ios_app_id: string | null;
  },
  registeredAt: number,
): RelayDeviceRow {
  return {
    ...fields,
    token_kind: fields.ios_app_id === null ? 'fcm' : 'apns',
    token: `sealed ${registeredAt}`,
    apns_environment: fields.ios_app_id === null ? null : 'production',
    registered_at: registeredAt,
    dated_at: registeredAt,
    expired_at: null,
  };
}

function identityOf({ realm_id, push_account_id, token_lookup }: RelayDeviceRow): string {
  return `${realm_id} ${push_account_id} ${token_lookup}`;
}
