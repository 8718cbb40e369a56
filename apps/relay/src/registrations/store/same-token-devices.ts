import { compactApnsToken, type PushTarget } from '@waxwing/protocol';
import { rowsAsTable } from '@waxwing/storage';
import { sql } from 'kysely';
import type { RealmId } from '../../servers/server-tables.js';
import type { RelayDatabase } from '../../tables.js';
import type { Addressee } from './addressee.js';
import type { TokenVault } from './token-vault.js';

/** A stored registration, and the addressees whose tokens are compared with its token. */
export interface ComparedRegistration {
  readonly realmId: RealmId;
  readonly target: PushTarget;
  readonly others: readonly Addressee[];
}

export interface SameTokenDevicesOptions {
  readonly database: Pick<RelayDatabase, 'db'>;
  readonly tokenVault: Pick<TokenVault, 'lookups'>;
}

/**
 * Limits a statement to a few milliseconds, because SQLite blocks the event loop. A batch can need 60,000 comparisons.
 */
const comparisonsPerStatement = 2000;

const columns = {
  position: 'integer',
  realm_id: 'integer',
  push_account_id: 'text',
  token_lookup: 'text',
} as const;

/**
 * Finds devices of either generation that have the same token as a registration: the phone has registered twice, for
 * example after it lost its data. Compares only devices that the server lists for the same user.
 */
export class SameTokenDevices {
  readonly #options: SameTokenDevicesOptions;

  constructor(options: SameTokenDevicesOptions) {
    this.#options = options;
  }

  /**
   * Returns for each registration, in order, the addressees that have the same token. Call it after the commit of the
   * registrations, so that at least one of two concurrent registrations finds the other.
   */
  async find(registrations: readonly ComparedRegistration[]): Promise<readonly Addressee[][]> {
    const found = registrations.map(() => new Set<Addressee>());
    const asked = registrations.flatMap(({ realmId, target, others }, position) => {
      const lookups = others.length === 0 ? [] : this.#lookups(target);
      return others.flatMap((push_account_id) =>
        lookups.map((token_lookup) => ({ position, realm_id: realmId, push_account_id, token_lookup })),
      );
    });
    const { db } = this.#options.database;
    for (let from = 0; from < asked.length; from += comparisonsPerStatement) {
      const piece = asked.slice(from, from + comparisonsPerStatement);
      const { rows } = await sql<{ position: number; push_account_id: Addressee }>`
        select asked.position, device.push_account_id
        from ${rowsAsTable(db, 'asked', columns, piece)}
        join relay_devices as device on device.realm_id = asked.realm_id
          and device.push_account_id = asked.push_account_id and device.token_lookup = asked.token_lookup`.execute(
        db,
      );
      for (const { position, push_account_id } of rows) found[position]?.add(push_account_id);
    }
    return found.map((addressees) => [...addressees]);
  }

  /**
   * Returns the lookups of a token; for APNs, also of its lowercase and uppercase variants. APNs tokens are
   * case-insensitive, but a row's lookup is computed from the token exactly as the phone sent it.
   */
  #lookups({ tokenKind, token }: PushTarget): readonly string[] {
    const compact = compactApnsToken(token);
    const tokens = tokenKind !== 'apns' ? [token] : [token, compact.toLowerCase(), compact.toUpperCase()];
    return [...new Set(tokens)].flatMap((each) => this.#options.tokenVault.lookups(each));
  }
}
