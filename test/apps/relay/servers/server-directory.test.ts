import { Secret } from '@waxwing/service/config';
import { describe, expect, it } from 'vitest';
import { addServer } from '#relay/servers/manage-servers.js';
import { ServerDirectory } from '#relay/servers/server-directory.js';
import { type RelayTables, relayMigrations } from '#relay/tables.js';
import { observeQueries } from '../../../support/observe-queries.js';
import { eachBackend } from '../../../support/test-databases.js';
import { otherRealmUuid, realmUuid } from '../relay-under-test.js';

const now = 1_800_000_000_000;
const unknown = '5b8b2a60-7f0c-4d0f-9d2c-0f6f0c3c7d11';

eachBackend((backend) => {
  describe('lookups in one event-loop tick', () => {
    it('share one query, and each gets its own result', async () => {
      const database = await backend.open<RelayTables>({ migrations: relayMigrations });
      const ours = await addServer(database, { name: 'ours', realmUuids: [realmUuid] }, now);
      const other = await addServer(database, { name: 'other', realmUuids: [otherRealmUuid] }, now);
      const directory = new ServerDirectory(database.db, () => now, { noteSeen: () => undefined });
      let queries = 0;
      const stop = observeQueries(database.db, () => {
        queries += 1;
      });
      const statuses = await Promise.all([
        directory.statusOf(ours.serverId, ours.serverKey),
        directory.statusOf(other.serverId, ours.serverKey),
        directory.statusOf(unknown, ours.serverKey),
        directory.statusOf('no "UUID" {\\', new Secret('wrong')),
        directory.statusOf(other.serverId, other.serverKey),
      ]);
      expect(queries).toBe(1);
      const realms = await Promise.all(
        [realmUuid, unknown, otherRealmUuid].map((uuid) => directory.realm(uuid)),
      );
      expect(queries).toBe(2);
      stop();
      const refused = 'unknown-or-wrong-key';
      expect(statuses).toEqual(['active', refused, refused, refused, 'active']);
      expect(realms.map((realm) => realm?.serverId)).toEqual([ours.serverId, undefined, other.serverId]);
    });
  });
});
