import { randomUUID } from 'node:crypto';
import { type PushAccountIdText, stringifyJson } from '@waxwing/protocol';
import type { MigrationSet } from '@waxwing/storage';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { bindingOfToken } from '#relay/registrations/store/token-vault.js';
import { addServer } from '#relay/servers/manage-servers.js';
import { type RelayTables, relayMigrations } from '#relay/tables.js';
import { eachBackend } from '../../../support/test-databases.js';
import {
  apnsRequest,
  apnsToken,
  fcmRequest,
  pushAccountId,
  realmUuid,
  startDeliveriesUnderTest,
} from '../deliveries/deliveries-under-test.js';
import { basic } from '../relay-under-test.js';
import { apnsElement, connectStockServer, fcmElement } from './stock-server.js';

/** Names of the migrations of a relay that supported only the older generation. */
const older: ReadonlySet<string> = new Set([
  '0001-servers-realms-devices',
  '0002-presented-registrations',
  '0003-expired-devices',
  '0004-server-quotas',
  '0005-presented-accounts',
  '0006-registration-sequences',
  '0001-uses-and-ring',
  '0001-receipts-tokens-breakers',
  '0002-receipts-doubts-rests',
  '0003-breaker-scopes',
  '0004-receipts-by-account',
]);

const olderMigrations: readonly MigrationSet[] = relayMigrations.map((set) => ({
  ...set,
  migrations: Object.fromEntries(Object.entries(set.migrations).filter(([name]) => older.has(name))),
}));

eachBackend((backend) => {
  it('devices from a database of the older generation stay valid beside devices of the newer generation', async () => {
    const first = await startDeliveriesUnderTest({ databaseUrl: await backend.freshUrl() });
    const url = await backend.freshUrl();
    const old = await backend.open<RelayTables>({ url, migrations: olderMigrations });
    const { serverId, serverKey } = await addServer(
      old,
      { name: 'ours', realmUuids: [realmUuid] },
      Date.now(),
    );
    const { id: realm_id } = await old.db.selectFrom('realms').select('id').executeTakeFirstOrThrow();
    const tokens = { fcm: 'cAAAAAAAAAAAAAAAAAAAAA:old', apns: apnsToken(0xddd) };
    const push_account_id = String(pushAccountId) as PushAccountIdText;
    const sealOld = (token: string, token_lookup: string) =>
      first.tokenVault.seal(token, bindingOfToken({ realm_id, push_account_id, token_lookup }));
    await old.write(async ({ db }) => {
      for (const [kind, token] of Object.entries(tokens)) {
        const [lookup] = first.tokenVault.lookups(token);
        const [app, environment] = kind === 'apns' ? ['org.example.App', 'production'] : [null, null];
        await sql`insert into relay_devices (realm_id, push_account_id, token_kind, token_lookup, token, ios_app_id, apns_environment, registered_at)
          values (${realm_id}, ${push_account_id}, ${kind}, ${lookup}, ${sealOld(token, lookup)}, ${app}, ${environment}, ${Date.now() - 60_000})`.execute(
          db,
        );
      }
      await sql`insert into registration_sequences (realm_id, push_account_id, sequence, presented_at)
        values (${realm_id}, ${push_account_id}, 7, 1)`.execute(db);
    });
    const ids = (await old.db.selectFrom('relay_devices').select('id').orderBy('id').execute()).map(
      ({ id }) => id,
    );
    await old.close();
    await first.close({ keepData: true });

    const relay = await startDeliveriesUnderTest({ databaseUrl: url, ring: first.ring });
    try {
      const authorization = basic(serverId, serverKey.reveal());
      const server = await connectStockServer(relay, authorization);
      const apple = { token_kind: 'apns', ios_app_id: 'org.example.App' };
      const forms = [server.form(tokens.fcm), server.form(tokens.apns, apple)];
      for (const form of forms) expect((await server.register(form)).status).toBe(200);
      const rows = await relay.database.db
        .selectFrom('relay_devices')
        .select(['id', 'push_account_id'])
        .orderBy('id')
        .execute();
      expect(rows.slice(0, 2)).toEqual(ids.map((id) => ({ id, push_account_id })));
      expect(rows.slice(2).map((row) => row.push_account_id)).toEqual(
        forms.map(({ token_id }) => `token:${token_id}`),
      );
      const elements = [
        fcmRequest(ids[0] ?? 0, { notification_id: randomUUID() }),
        apnsRequest(ids[1] ?? 0),
        fcmElement(forms[0]?.token_id ?? ''),
        apnsElement(forms[1]?.token_id ?? ''),
      ];
      const { body } = await server.notify(stringifyJson(elements as never));
      expect(body).toMatchObject({
        android_successfully_sent_count: 2,
        apple_successfully_sent_count: 2,
        delete_device_ids: [],
        delete_token_ids: [],
      });
      for (const token of Object.values(tokens)) expect(await relay.arrived(token)).toHaveLength(2);
    } finally {
      await relay.close();
    }
  });
});
