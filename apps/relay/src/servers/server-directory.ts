import { hashCredential, type Secret } from '@waxwing/service/config';
import type { Clock } from '@waxwing/service/lifecycle';
import { fixedQuery } from '@waxwing/storage';
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

// Precompiled: with many mostly idle servers, the cache misses and these queries run for most requests.
const serverWithId = fixedQuery<
  RelayTables,
  { readonly id: string },
  Omit<Selectable<RelayTables['servers']>, 'id' | 'name' | 'created_at' | 'hostname' | 'contact_email'>
>((db, parameter) =>
  db
    .selectFrom('servers')
    .select(['key_hash', 'previous_key_hash', 'previous_key_until', 'deactivated_at', 'suspended_at'])
    .where('id', '=', parameter('id')),
);
const realmWithUuid = fixedQuery<RelayTables, { readonly uuid: string }, { id: RealmId; server_id: string }>(
  (db, parameter) =>
    db.selectFrom('realms').select(['id', 'server_id']).where('uuid', '=', parameter('uuid')),
);

/** Looks up servers and realms in the database, through a short-lived cache. */
export class ServerDirectory {
  readonly #db: Kysely<RelayTables>;
  readonly #clock: Clock;
  readonly #activity: Pick<ServerActivity, 'noteSeen'>;
  readonly #proven: RecentLookups<true>;
  readonly #realms: RecentLookups<KnownRealm>;
  /** Whether servers are active. */
  readonly #active: RecentLookups<boolean>;

  /** @param activity records each lookup of a valid key: at most one per server and TTL. */
  constructor(db: Kysely<RelayTables>, clock: Clock, activity: Pick<ServerActivity, 'noteSeen'>) {
    this.#db = db;
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
   * Whether a server is active, without checking its key: for work that it requested earlier. `false` for a removed
   * server.
   */
  isActive(serverId: string): boolean | Promise<boolean> {
    return this.#active.get(serverId) ?? this.#lookUpState(serverId);
  }

  /** Finds a realm of any server by its UUID (lowercase). Returns `undefined` if there is none. */
  realm(realmUuid: string): KnownRealm | undefined | Promise<KnownRealm | undefined> {
    return this.#realms.get(realmUuid) ?? this.#lookUpRealm(realmUuid);
  }

  /**
   * Evicts a server, so that a change of its keys or state takes effect here at once. Other processes follow within the
   * TTL.
   */
  forget(serverId: string): void {
    this.#proven.forget((proof) => proof.startsWith(`${serverId} `));
    this.#active.forget((id) => id === serverId);
  }

  async #lookUpServer(serverId: string, key: Secret<string>, proof: string): Promise<ServerStatus> {
    const [server] = await serverWithId(this.#db, { id: serverId });
    const isRight = matchingKey(key, server, this.#clock()) !== undefined;
    if (server === undefined || !isRight) return 'unknown-or-wrong-key';
    this.#activity.noteSeen(serverId);
    const state = stateOf(server);
    if (state === 'active') this.#proven.remember(proof, true);
    return state;
  }

  async #lookUpState(serverId: string): Promise<boolean> {
    const [server] = await serverWithId(this.#db, { id: serverId });
    const isActive = server !== undefined && stateOf(server) === 'active';
    this.#active.remember(serverId, isActive);
    return isActive;
  }

  async #lookUpRealm(realmUuid: string): Promise<KnownRealm | undefined> {
    const [row] = await realmWithUuid(this.#db, { uuid: realmUuid });
    if (row === undefined) return undefined;
    const realm = { realmId: row.id, serverId: row.server_id };
    this.#realms.remember(realmUuid, realm);
    return realm;
  }
}
