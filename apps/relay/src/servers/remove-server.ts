import { removeInBatches } from '@waxwing/storage';
import { type Act, recordAct } from '../acts/record-act.js';
import type { RelayDatabase } from '../tables.js';
import { requireServer, suspend } from './manage-servers.js';

/**
 * Removes a server and all its data at the relay: realms, devices, receipts, counts and invitations. First suspends the
 * server, so that it cannot add data during the removal, and records the act in the same transaction. Then deletes 500
 * devices per transaction. After an interruption, call it again to remove the rest. Returns the number of removed
 * devices.
 * @throws CommandError for an unknown server.
 */
export async function removeServer(
  database: RelayDatabase,
  { serverId, act }: { readonly serverId: string; readonly act: Act },
): Promise<number> {
  await database.write(async (transaction) => {
    await requireServer(transaction.db, serverId);
    await suspend(transaction.db, serverId, act.at);
    await recordAct(transaction, act);
  });
  const removeSome = async (limit: number): Promise<number> => {
    const { numDeletedRows } = await database.write(({ db }) =>
      db
        .deleteFrom('relay_devices')
        .where('id', 'in', ({ selectFrom }) =>
          selectFrom('relay_devices')
            .innerJoin('realms', 'realms.id', 'relay_devices.realm_id')
            .select('relay_devices.id')
            .where('realms.server_id', '=', serverId)
            .limit(limit),
        )
        .executeTakeFirstOrThrow(),
    );
    return Number(numDeletedRows);
  };
  const removed = await removeInBatches(removeSome, new AbortController().signal);
  return removed + (await removeRest(database, serverId));
}

async function removeRest(database: RelayDatabase, serverId: string): Promise<number> {
  const { result } = await database.writeSingle(async ({ db }) => {
    const { hostname } = await db
      .selectFrom('servers')
      .select('hostname')
      .where('id', '=', serverId)
      .executeTakeFirstOrThrow();
    const realms = await db
      .selectFrom('realms')
      .select(['id', 'uuid'])
      .where('server_id', '=', serverId)
      .execute();
    let late = 0n;
    // One realm at a time, because the realm is the first column of the device index.
    for (const { id } of realms) {
      const { numDeletedRows } = await db
        .deleteFrom('relay_devices')
        .where('realm_id', '=', id)
        .executeTakeFirstOrThrow();
      late += numDeletedRows;
      await db.deleteFrom('registration_sequences').where('realm_id', '=', id).execute();
      await db.deleteFrom('presented_registrations').where('realm_id', '=', id).execute();
      await db.deleteFrom('ended_keys').where('realm_id', '=', id).execute();
    }
    const scopes = [`server ${serverId}`, ...realms.map(({ uuid }) => `realm ${uuid}`)];
    for (const scope of scopes) await db.deleteFrom('app_breakers').where('scope', '=', scope).execute();
    await db.deleteFrom('delivery_receipts').where('server_id', '=', serverId).execute();
    await db.deleteFrom('server_quotas').where('server_id', '=', serverId).execute();
    await db.deleteFrom('server_activity').where('server_id', '=', serverId).execute();
    await db.deleteFrom('server_invitations').where('server_id', '=', serverId).execute();
    if (hostname !== null) {
      await db.deleteFrom('server_invitations').where('hostname', '=', hostname).execute();
      await db.deleteFrom('server_challenges').where('hostname', '=', hostname).execute();
    }
    await db.deleteFrom('realms').where('server_id', '=', serverId).execute();
    await db.deleteFrom('servers').where('id', '=', serverId).execute();
    return Number(late);
  });
  return result;
}
