import { randomUUID } from 'node:crypto';
import { CommandError } from '@waxwing/service/command-line';
import { generateCredential, hashCredential, type Secret } from '@waxwing/service/config';
import { lockingRows } from '@waxwing/storage';
import type { Transaction } from 'kysely';
import type { RelayDatabase, RelayTables } from '../tables.js';
import { rotateKeys } from './server-keys.js';
import { unknownServer } from './server-summaries.js';

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
 * @throws CommandError if the id or a realm is taken, without any change.
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
        `The server ${serverId} already exists: use "servers add-realm" to give it more realms, or omit --server-id.`,
      );
    }
    await insertRealms(db, { serverId, realmUuids, now });
  });
  return { serverId, serverKey };
}

/**
 * Adds realms to a server. Idempotent: realms that the server already has stay unchanged.
 * @throws CommandError for the same reasons as {@link addServer}, and for an unknown server.
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

/**
 * Replaces a server's key. The previous key stays valid for ten more minutes. With `isImmediate`, all earlier keys stop
 * working within two seconds.
 * @throws CommandError for an unknown server.
 */
export async function rotateServerKey(
  database: RelayDatabase,
  { serverId, isImmediate }: { readonly serverId: string; readonly isImmediate: boolean },
  now: number,
): Promise<ServerCredentials> {
  const serverKey = generateCredential();
  const keyHash = hashCredential(serverKey.reveal());
  await database.write(async ({ db }) => {
    await requireServer(db, serverId);
    const stored = await db
      .selectFrom('servers')
      .select(['key_hash', 'previous_key_hash', 'previous_key_until'])
      .where('id', '=', serverId)
      .modifyEnd(lockingRows(db))
      .executeTakeFirstOrThrow();
    const keys = isImmediate
      ? { key_hash: keyHash, previous_key_hash: null, previous_key_until: null }
      : rotateKeys(stored, { keyHash, used: 'current', now });
    await db.updateTable('servers').set(keys).where('id', '=', serverId).execute();
  });
  return { serverId, serverKey };
}

/**
 * Suspends a server: refuses all its requests within two seconds. Realms and devices are kept. Returns `false` if it
 * was already suspended.
 * @throws CommandError for an unknown server.
 */
export function suspendServer(database: RelayDatabase, serverId: string, now: number): Promise<boolean> {
  return database.write(async ({ db }) => {
    await requireServer(db, serverId);
    return suspend(db, serverId, now);
  });
}

/** Suspends a server. Returns `false` if it was already suspended. */
export async function suspend(db: Transaction<RelayTables>, serverId: string, now: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('servers')
    .set({ suspended_at: now })
    .where('id', '=', serverId)
    .where('suspended_at', 'is', null)
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}

/**
 * Admits a suspended or self-deactivated server again, within two seconds. Returns `false` if the server was already
 * active.
 * @throws CommandError for an unknown server.
 */
export function resumeServer(database: RelayDatabase, serverId: string): Promise<boolean> {
  return database.write(async ({ db }) => {
    await requireServer(db, serverId);
    const { numUpdatedRows } = await db
      .updateTable('servers')
      .set({ suspended_at: null, deactivated_at: null })
      .where('id', '=', serverId)
      .where(({ or, eb }) => or([eb('suspended_at', 'is not', null), eb('deactivated_at', 'is not', null)]))
      .executeTakeFirstOrThrow();
    return numUpdatedRows > 0n;
  });
}

/** @throws CommandError for an unknown server. */
export async function renameServer(database: RelayDatabase, serverId: string, name: string): Promise<void> {
  await database.write(async ({ db }) => {
    await requireServer(db, serverId);
    await db.updateTable('servers').set({ name }).where('id', '=', serverId).execute();
  });
}

/** @throws CommandError for an unknown server. */
export async function requireServer(
  db: Pick<Transaction<RelayTables>, 'selectFrom'>,
  serverId: string,
): Promise<void> {
  const server = await db.selectFrom('servers').select('id').where('id', '=', serverId).executeTakeFirst();
  if (server === undefined) throw unknownServer(serverId);
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
        `The realm ${uuid} already belongs to the server ${realm.server_id}: check the UUID, because a realm has only one server.`,
      );
    }
  }
}
