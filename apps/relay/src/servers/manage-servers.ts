import { randomUUID } from 'node:crypto';
import { CommandError } from '@waxwing/service/command-line';
import { generateCredential, hashCredential, type Secret } from '@waxwing/service/config';
import type { Transaction } from 'kysely';
import type { RelayDatabase, RelayTables } from '../tables.js';

/** A server as `servers list` shows it. Instants in Unix milliseconds. */
export interface ServerSummary {
  readonly serverId: string;
  readonly name: string;
  readonly createdAt: number;
  readonly deactivatedAt: number | undefined;
  readonly realmUuids: readonly string[];
}

export interface NewServer {
  /** UUID, lowercase; random if missing. */
  readonly serverId?: string | undefined;
  readonly name: string;
  /** UUIDs, lowercase. */
  readonly realmUuids: readonly string[];
}

/** A server's id and key. Shown once: the database stores only a hash of the key. */
export interface ServerCredentials {
  readonly serverId: string;
  readonly serverKey: Secret<string>;
}

/**
 * Registers a server and its realms.
 * @throws CommandError if the id or a realm is taken; nothing is changed then.
 */
export async function addServer(
  database: RelayDatabase,
  { serverId = randomUUID(), name, realmUuids }: NewServer,
  now: number,
): Promise<ServerCredentials> {
  const serverKey = generateCredential();
  const key_hash = hashCredential(serverKey.reveal());
  await database.write(async ({ db }) => {
    const { numInsertedOrUpdatedRows } = await db
      .insertInto('servers')
      .values({ id: serverId, name, key_hash, created_at: now, deactivated_at: null })
      .onConflict((conflict) => conflict.column('id').doNothing())
      .executeTakeFirstOrThrow();
    if (numInsertedOrUpdatedRows !== 1n) {
      throw new CommandError(
        `The server ${serverId} exists already: use "servers add-realm" to give it more realms, or leave --server-id out.`,
      );
    }
    await insertRealms(db, { serverId, realmUuids, now });
  });
  return { serverId, serverKey };
}

/**
 * Adds realms to a server. Idempotent: realms that it already has stay unchanged.
 * @throws CommandError as {@link addServer} does, and for an unknown server.
 */
export async function addRealms(
  database: RelayDatabase,
  serverId: string,
  realmUuids: readonly string[],
  now: number,
): Promise<void> {
  await database.write(async ({ db }) => {
    await requireServer(db, serverId);
    await insertRealms(db, { serverId, realmUuids, now });
  });
}

/** Lists all servers, oldest first. */
export async function listServers({ db }: RelayDatabase): Promise<ServerSummary[]> {
  const servers = await db.selectFrom('servers').selectAll().orderBy('created_at').orderBy('id').execute();
  const realms = await db.selectFrom('realms').select(['uuid', 'server_id']).orderBy('id').execute();
  const realmsOf = new Map<string, string[]>();
  for (const { uuid, server_id } of realms) {
    realmsOf.set(server_id, [...(realmsOf.get(server_id) ?? []), uuid]);
  }
  return servers.map((server) => ({
    serverId: server.id,
    name: server.name,
    createdAt: server.created_at,
    deactivatedAt: server.deactivated_at ?? undefined,
    realmUuids: realmsOf.get(server.id) ?? [],
  }));
}

/**
 * Replaces a server's key. The old key stops working within two seconds.
 * @throws CommandError for an unknown server.
 */
export async function rotateServerKey(database: RelayDatabase, serverId: string): Promise<ServerCredentials> {
  const serverKey = generateCredential();
  const key_hash = hashCredential(serverKey.reveal());
  await database.write(async ({ db }) => {
    await requireServer(db, serverId);
    await db.updateTable('servers').set({ key_hash }).where('id', '=', serverId).execute();
  });
  return { serverId, serverKey };
}

/**
 * Deactivates a server (`deactivatedAt` in Unix milliseconds) or reactivates it (`undefined`). Takes effect within two
 * seconds. Realms and devices stay. Returns whether anything changed.
 * @throws CommandError for an unknown server.
 */
export async function setServerDeactivated(
  database: RelayDatabase,
  serverId: string,
  deactivatedAt: number | undefined,
): Promise<boolean> {
  return database.write(async ({ db }) => {
    await requireServer(db, serverId);
    const { numUpdatedRows } = await db
      .updateTable('servers')
      .set({ deactivated_at: deactivatedAt ?? null })
      .where('id', '=', serverId)
      .where('deactivated_at', deactivatedAt === undefined ? 'is not' : 'is', null)
      .executeTakeFirstOrThrow();
    return numUpdatedRows > 0n;
  });
}

/** @throws CommandError for an unknown server. */
export async function requireServer(
  db: Pick<Transaction<RelayTables>, 'selectFrom'>,
  serverId: string,
): Promise<void> {
  const server = await db.selectFrom('servers').select('id').where('id', '=', serverId).executeTakeFirst();
  if (server === undefined) {
    throw new CommandError(`There is no server ${serverId}: "servers list" shows those that there are.`);
  }
}

interface RealmsOfServer {
  readonly serverId: string;
  readonly realmUuids: readonly string[];
  readonly now: number;
}

async function insertRealms(
  db: Transaction<RelayTables>,
  { serverId, realmUuids, now }: RealmsOfServer,
): Promise<void> {
  for (const uuid of realmUuids) {
    await db
      .insertInto('realms')
      .values({ uuid, server_id: serverId, created_at: now })
      .onConflict((conflict) => conflict.column('uuid').doNothing())
      .execute();
    const realm = await db
      .selectFrom('realms')
      .select('server_id')
      .where('uuid', '=', uuid)
      .executeTakeFirstOrThrow();
    if (realm.server_id !== serverId) {
      throw new CommandError(
        `The realm ${uuid} belongs to the server ${realm.server_id} already: check the UUID, since a realm has one server.`,
      );
    }
  }
}
