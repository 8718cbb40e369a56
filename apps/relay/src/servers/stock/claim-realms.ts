import { type ProtocolError, refused } from '@waxwing/protocol';
import { amongTextsOf } from '@waxwing/storage';
import type { RelayDatabase } from '../../tables.js';

export const maximumRealmsPerServer = 1000;

interface Claim {
  readonly serverId: string;
  /** UUIDs, lowercase. */
  readonly realmUuids: readonly string[];
  /** Unix milliseconds. */
  readonly now: number;
}

/**
 * Gives a server the reported realms that do not belong to any server yet. Idempotent; writes only if there are new
 * realms.
 * @throws ProtocolError BAD_REQUEST, without any change, for a realm of another server or for more than {@link
 * maximumRealmsPerServer} realms.
 */
export async function claimRealms(
  database: RelayDatabase,
  { serverId, realmUuids, now }: Claim,
): Promise<void> {
  const uuids = JSON.stringify([...new Set(realmUuids)]);
  const owners = (db: RelayDatabase['db']) =>
    db
      .selectFrom('realms')
      .select(['uuid', 'server_id'])
      .where('uuid', 'in', amongTextsOf(db, uuids))
      .execute();
  const present = await owners(database.db);
  if (present.some(({ server_id }) => server_id !== serverId)) throw duplicate();
  const known = new Set(present.map(({ uuid }) => uuid));
  const added = [...new Set(realmUuids)].filter((uuid) => !known.has(uuid)).sort();
  if (added.length === 0) return;
  await database.write(async ({ db }) => {
    const { count } = await db
      .selectFrom('realms')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('server_id', '=', serverId)
      .executeTakeFirstOrThrow();
    if (Number(count) + added.length > maximumRealmsPerServer) {
      throw refused(`A server may have at most ${maximumRealmsPerServer} organizations here.`);
    }
    await db
      .insertInto('realms')
      .values(added.map((uuid) => ({ uuid, server_id: serverId, created_at: now })))
      .onConflict((conflict) => conflict.column('uuid').doNothing())
      .execute();
    // Read again after the insertion, because another server may have claimed a realm between the two queries.
    if ((await owners(db)).some(({ server_id }) => server_id !== serverId)) throw duplicate();
  });
}

function duplicate(): ProtocolError {
  return refused('Duplicate registration detected.');
}
