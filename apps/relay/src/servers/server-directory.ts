import { hashCredential, matchesCredential, type Secret } from '@waxwing/service/config';
import type { Clock } from '@waxwing/service/lifecycle';
import type { Kysely } from 'kysely';
import type { RelayTables } from '../tables.js';
import { RecentLookups } from './recent-lookups.js';
import type { RealmId } from './server-tables.js';

export type ServerStanding = 'active' | 'deactivated' | 'unknown-or-wrong-key';

export interface KnownRealm {
  readonly realmId: RealmId;
  readonly serverId: string;
}

// Also how long a deactivation or a new key made by another process takes to be noticed.
const lifetimeMilliseconds = 2000;
const maximumEntries = 10_000;

/** The servers that may use the relay, and their realms. */
export class ServerDirectory {
  readonly #db: Kysely<RelayTables>;
  readonly #proven: RecentLookups<true>;
  readonly #realms: RecentLookups<KnownRealm>;

  constructor(db: Kysely<RelayTables>, clock: Clock) {
    this.#db = db;
    this.#proven = new RecentLookups({ clock, lifetimeMilliseconds, maximumEntries });
    this.#realms = new RecentLookups({ clock, lifetimeMilliseconds, maximumEntries });
  }

  /** Whether a server's id and key proved a moment ago that it is active. */
  hasProven(serverId: string, key: Secret<string>): boolean {
    return this.#proven.get(proofOf(serverId, key)) === true;
  }

  /**
   * What a server's id and key prove. Only what was proven is remembered, so that a wrong key takes the same way, and
   * the same time, whether or not the id exists.
   */
  async standingOf(serverId: string, key: Secret<string>): Promise<ServerStanding> {
    const proof = proofOf(serverId, key);
    const server = await this.#db
      .selectFrom('servers')
      .select(['key_hash', 'deactivated_at'])
      .where('id', '=', serverId)
      .executeTakeFirst();
    if (!matchesCredential(key.reveal(), server?.key_hash)) return 'unknown-or-wrong-key';
    if (server?.deactivated_at != null) return 'deactivated';
    this.#proven.remember(proof, true);
    return 'active';
  }

  /** The realm, as {@link realm} finds it, where it was found a moment ago. */
  recentRealm(realmUuid: string): KnownRealm | undefined {
    return this.#realms.get(realmUuid);
  }

  /** The realm with this UUID (lower case), whichever server it belongs to; `undefined` when there is none. */
  async realm(realmUuid: string): Promise<KnownRealm | undefined> {
    const recent = this.recentRealm(realmUuid);
    if (recent !== undefined) return recent;
    const row = await this.#db
      .selectFrom('realms')
      .select(['id', 'server_id'])
      .where('uuid', '=', realmUuid)
      .executeTakeFirst();
    if (row === undefined) return undefined;
    const realm = { realmId: row.id, serverId: row.server_id };
    this.#realms.remember(realmUuid, realm);
    return realm;
  }
}

function proofOf(serverId: string, key: Secret<string>): string {
  return `${serverId} ${hashCredential(key.reveal())}`;
}
