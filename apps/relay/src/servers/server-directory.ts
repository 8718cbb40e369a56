import { hashCredential, type Secret } from '@waxwing/service/config';
import { Batcher, type Clock } from '@waxwing/service/lifecycle';
import { fixedQuery, isAmongListed, listText } from '@waxwing/storage';
import type { Kysely, Selectable } from 'kysely';
import type { RelayTables } from '../tables.js';
import { RecentLookups } from './recent-lookups.js';
import type { ServerActivity } from './server-activity.js';
import { matchingKey } from './server-keys.js';
import { type ServerState, stateOf } from './server-state.js';
import type { RealmId } from './server-tables.js';

export type ServerStatus = ServerState | 'unknown-or-wrong-key';

export interface KnownRealm {
  readonly realmId: RealmId;
  readonly serverId: string;
}

// TTL of the cache, and the delay until a deactivation or key rotation by another process takes effect here.
const lifetimeMilliseconds = 2000;
const maximumEntries = 10_000;

// Limits how long a single query takes.
const maximumLookupsPerQuery = 256;

type ServerRow = Omit<
  Selectable<RelayTables['servers']>,
  'name' | 'created_at' | 'hostname' | 'contact_email'
>;
type RealmRow = Pick<Selectable<RelayTables['realms']>, 'id' | 'uuid' | 'server_id'>;

// Precompiled, because with many mostly idle servers most requests miss the cache and run these queries.
const serversWithIds = fixedQuery<RelayTables, { readonly ids: string }, ServerRow>((db, parameter) =>
  db
    .selectFrom('servers')
    .select(['id', 'key_hash', 'previous_key_hash', 'previous_key_until', 'deactivated_at', 'suspended_at'])
    .where(isAmongListed(db, 'id', 'text', parameter('ids'))),
);
const realmsWithUuids = fixedQuery<RelayTables, { readonly uuids: string }, RealmRow>((db, parameter) =>
  db
    .selectFrom('realms')
    .select(['id', 'uuid', 'server_id'])
    .where(isAmongListed(db, 'uuid', 'text', parameter('uuids'))),
);

/**
 * Looks up servers and realms in the database, through a short-lived cache. Batches the lookups of one event-loop tick.
 * One query per lookup would delay requests when many servers are active, and spread registrations across more commits.
 */
export class ServerDirectory {
  readonly #serverLookups: Batcher<string, ServerRow | undefined>;
  readonly #realmLookups: Batcher<string, RealmRow | undefined>;
  readonly #clock: Clock;
  readonly #activity: Pick<ServerActivity, 'noteSeen'>;
  readonly #proven: RecentLookups<true>;
  readonly #realms: RecentLookups<KnownRealm>;
  /** Whether servers are active. */
  readonly #active: RecentLookups<boolean>;

  /** @param activity records each lookup of a valid key: at most one per server and TTL. */
  constructor(db: Kysely<RelayTables>, clock: Clock, activity: Pick<ServerActivity, 'noteSeen'>) {
    const options = { maximumItems: maximumLookupsPerQuery };
    this.#serverLookups = new Batcher((ids) => findServers(db, ids), options);
    this.#realmLookups = new Batcher((uuids) => findRealms(db, uuids), options);
    this.#activity = activity;
    this.#clock = clock;
    this.#proven = new RecentLookups({ clock, lifetimeMilliseconds, maximumEntries });
    this.#realms = new RecentLookups({ clock, lifetimeMilliseconds, maximumEntries });
    this.#active = new RecentLookups({ clock, lifetimeMilliseconds, maximumEntries });
  }

  /**
   * Verifies a server's id and key. Synchronous on a cache hit. Caches only successes, so that a wrong key takes the
   * same path and the same time whether or not the id exists. `isFresh` bypasses the cache.
   */
  statusOf(serverId: string, key: Secret<string>, isFresh = false): ServerStatus | Promise<ServerStatus> {
    const proof = `${serverId} ${hashCredential(key.reveal())}`;
    if (!isFresh && this.#proven.get(proof)) return 'active';
    return this.#lookUpServer(serverId, key, proof);
  }

  /**
   * Whether a server is active, without checking its key. For work that the server requested earlier. `false` for a
   * removed server.
   */
  isActive(serverId: string): boolean | Promise<boolean> {
    return this.#active.get(serverId) ?? this.#lookUpState(serverId);
  }

  /** Finds a realm of any server by its UUID (lowercase). Returns `undefined` for an unknown UUID. */
  realm(realmUuid: string): KnownRealm | undefined | Promise<KnownRealm | undefined> {
    return this.#realms.get(realmUuid) ?? this.#lookUpRealm(realmUuid);
  }

  /**
   * Evicts a server, so that a change to its keys or state takes effect here immediately. Other processes follow within
   * the TTL.
   */
  forget(serverId: string): void {
    this.#proven.forget((proof) => proof.startsWith(`${serverId} `));
    this.#active.forget((id) => id === serverId);
  }

  async #lookUpServer(serverId: string, key: Secret<string>, proof: string): Promise<ServerStatus> {
    const server = await this.#serverLookups.add(serverId);
    const isRight = matchingKey(key, server, this.#clock()) !== undefined;
    if (server === undefined || !isRight) return 'unknown-or-wrong-key';
    this.#activity.noteSeen(serverId);
    const state = stateOf(server);
    if (state === 'active') this.#proven.remember(proof, true);
    return state;
  }

  async #lookUpState(serverId: string): Promise<boolean> {
    const server = await this.#serverLookups.add(serverId);
    const isActive = server !== undefined && stateOf(server) === 'active';
    this.#active.remember(serverId, isActive);
    return isActive;
  }

  async #lookUpRealm(realmUuid: string): Promise<KnownRealm | undefined> {
    const row = await this.#realmLookups.add(realmUuid);
    if (row === undefined) return undefined;
    const realm = { realmId: row.id, serverId: row.server_id };
    this.#realms.remember(realmUuid, realm);
    return realm;
  }
}

async function findServers(
  db: Kysely<RelayTables>,
  ids: readonly string[],
): Promise<(ServerRow | undefined)[]> {
  const rows = await serversWithIds(db, { ids: listText(db, ids) });
  const rowOf = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => rowOf.get(id));
}

async function findRealms(
  db: Kysely<RelayTables>,
  uuids: readonly string[],
): Promise<(RealmRow | undefined)[]> {
  const rows = await realmsWithUuids(db, { uuids: listText(db, uuids) });
  const rowOf = new Map(rows.map((row) => [row.uuid, row]));
  return uuids.map((uuid) => rowOf.get(uuid));
}
