import { type ServerPushTables, serverPushMigrations } from '@waxwing/server-push';
import { isPostgres } from '@waxwing/storage';
import { type Kysely, sql } from 'kysely';
import { afterEach, expect, it } from 'vitest';
import { userId as user } from '../../support/ids.js';
import { keyGroup, PushServer, tokenGroup, tokenIdOf } from '../../support/push-server.js';
import { eachBackend } from '../../support/test-databases.js';

const ada = user(7);
const hour = 3_600_000;

/**
 * The newest migration of each version that must be upgradable: the last version with only the older generation, and
 * the latest version.
 */
const versions = ['0007-registered-at', '0010-relay-accounts'] as const;
const names = Object.keys(serverPushMigrations.migrations);

/** Returns the migrations of a version. */
function upTo(version: string) {
  const migrations = Object.fromEntries(
    Object.entries(serverPushMigrations.migrations).filter(([name]) => name <= version),
  );
  return [{ ...serverPushMigrations, migrations }];
}

/** Tables that have rows in the older version. */
const filled = [
  'client_devices',
  'jobs',
  'push_devices',
  'registration_rates',
  'relay_link',
  'test_notifications',
];

/** Copies rows with the columns that the older tables have. Ids stay the same. */
async function copyRows(from: Kysely<never>, to: Kysely<never>): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  const override = sql.raw(isPostgres(to) ? 'overriding system value' : '');
  for (const { name, columns } of await to.introspection.getTables()) {
    if (!filled.includes(name)) continue;
    const listed = sql.join(columns.map((column) => sql.ref(column.name)));
    const { rows } = await sql<Record<string, unknown>>`select ${listed} from ${sql.table(name)}`.execute(
      from,
    );
    counts[name] = rows.length;
    for (const row of rows) {
      const values = sql.join(columns.map((column) => row[column.name]));
      await sql`insert into ${sql.table(name)} (${listed}) ${override} values (${values})`.execute(to);
    }
    if (isPostgres(to) && columns.some((column) => column.name === 'id')) {
      await sql`select setval(pg_get_serial_sequence(${name}, 'id'), 1000)
        where pg_get_serial_sequence(${name}, 'id') is not null`.execute(to);
    }
  }
  return counts;
}

eachBackend((backend) => {
  let server: PushServer;
  afterEach(() => server?.close());

  it.each(versions)(
    'a database from %s keeps and notifies its phones, and forwards pending registrations',
    async (version) => {
      const hasDevices = version >= '0008';
      const source = await PushServer.start(backend);
      await source.activeAccount(ada, '5');
      const active = hasDevices ? await source.activeDevice(ada, 'active') : undefined;
      const waiting = hasDevices ? await source.createDevice(ada) : undefined;
      source.relay.isDown = true;
      await source.activeAccount(ada, '6');
      if (waiting !== undefined)
        await source.register(ada, waiting, { ...keyGroup(2), ...tokenGroup('waiting') });
      await source.settle();
      await source.database.jobs.stop(0);

      const url = await backend.freshUrl();
      const old = await backend.open<ServerPushTables>({
        url,
        migrations: upTo(version),
        now: () => source.now,
      });
      const counts = await old.write(({ db }) => copyRows(source.database.db as never, db as never));
      expect(counts).toMatchObject({ push_devices: 2, jobs: hasDevices ? 2 : 1, registration_rates: 1 });
      expect(counts.client_devices).toBe(hasDevices ? 2 : undefined);
      await old.close();
      await source.close();

      server = await PushServer.start(backend, url);
      server.relay.tokens.add(tokenIdOf('active'));
      await server.pass(hour);
      const inForce = { status: 'active', error_code: null };
      expect(await server.push.pushDevicesOf(ada)).toEqual({ 5: inForce, 6: inForce });
      const devices = await server.push.clientDevicesOf(ada);
      expect(Object.keys(devices)).toEqual(hasDevices ? [active, waiting].map(String) : []);
      const added = await server.activeDevice(ada, 'added');
      await server.notify(ada);
      const reached = server.relay.deliveries.map(({ deviceId, tokenId }) => deviceId ?? tokenId);
      const tokens = hasDevices ? ['active', 'waiting', 'added'] : ['added'];
      expect(reached).toEqual([1, expect.any(Number), ...tokens.map(tokenIdOf)]);
      // Registrations from an older version can be changed as usual.
      for (const id of [active, waiting, added]) {
        if (id !== undefined) expect(await server.register(ada, id, keyGroup(9))).toEqual({});
      }
      server.relay.deliveries.length = 0;
      await server.notify(ada);
      expect(server.relay.deliveries.filter(({ keyId }) => keyId === 9)).toHaveLength(tokens.length);
    },
  );
});

it('the tested versions precede the newest migrations', () => {
  expect(names.filter((name) => name > versions[1])).toEqual([
    '0011-sessions',
    '0012-realm-push-status',
    '0013-former-push-keys',
    '0014-host-challenges',
    '0015-published-push-status',
    '0016-former-relay-devices',
  ]);
});
