import { livenessTimeoutSeconds } from '@waxwing/protocol';
import { amongTextsOf, fixedQuery } from '@waxwing/storage';
import type { Transaction } from 'kysely';
import type { RelayDatabase, RelayTables } from '../../tables.js';
import type { Addressee } from './addressee.js';
import type { TokenVault } from './token-vault.js';

/** A phone's revocation of the registrations of a token: all for `addressees` that are dated up to `revokedAt`. */
export interface Revocation {
  /** Lowercase. */
  readonly realmUuid: string;
  readonly addressees: readonly Addressee[];
  readonly token: string;
  /** Unix milliseconds, by the phone's clock, like the registrations' timestamps. */
  readonly revokedAt: number;
}

/** A stored registration. */
export interface DatedRegistration {
  readonly realmUuid: string;
  readonly addressee: Addressee;
  readonly token: string;
  /** The sealed timestamp, in Unix milliseconds. */
  readonly datedAt: number;
}

export interface RevocationsOptions {
  readonly database: RelayDatabase;
  readonly tokenVault: Pick<TokenVault, 'lookups'>;
}

const livenessMilliseconds = livenessTimeoutSeconds * 1000;

const revocationsOf = fixedQuery<
  RelayTables,
  { readonly names: string },
  Pick<RelayTables['revocations'], 'name' | 'revoked_at'>
>((db, parameter) =>
  db
    .selectFrom('revocations')
    .select(['name', 'revoked_at'])
    .where('name', 'in', amongTextsOf<RelayTables, string>(db, parameter('names'))),
);

/**
 * Deletes the devices that phones revoke, and stores the revocations. Keeps a revocation until the revoked
 * registrations have expired, so that no server can replay them.
 */
export class Revocations {
  readonly #options: RevocationsOptions;

  constructor(options: RevocationsOptions) {
    this.#options = options;
  }

  /**
   * Deletes the devices, and stores the revocation for each addressee. Does the same work whether or not devices exist.
   * Idempotent. `now` is in Unix milliseconds.
   */
  async revoke(sealed: Revocation, now: number): Promise<void> {
    // As for registrations, a phone's clock may be ahead by at most the liveness timeout. A time beyond the database's
    // range would break every query that reads it, including queries for other phones.
    const revokedAt = Math.max(0, Math.min(sealed.revokedAt, now + livenessMilliseconds));
    const revocation = { ...sealed, revokedAt };
    const { realmUuid, addressees, token } = revocation;
    const names = addressees.map((addressee) => this.#namesOf({ realmUuid, addressee, token })[0]);
    await this.#options.database.write(async ({ db }) => {
      await storeRevocations(db, names, revokedAt);
      await this.#deleteDevices(db, revocation);
    });
    // Delete again, because a registration that was stored concurrently may have missed the revocation.
    await this.#options.database.write(({ db }) => this.#deleteDevices(db, revocation));
  }

  /**
   * Deletes the devices of revoked registrations. Returns for each registration, in order, whether it is revoked. Call
   * this method only after the commit of the registrations: otherwise a registration and a concurrent revocation could
   * miss each other.
   */
  async withdraw(registrations: readonly DatedRegistration[]): Promise<readonly boolean[]> {
    const named = registrations.map((each) => this.#namesOf(each));
    const { database } = this.#options;
    const rows = await revocationsOf(database.db, { names: JSON.stringify(named.flat()) });
    if (rows.length === 0) return registrations.map(() => false);
    const revokedAt = new Map(rows.map(({ name, revoked_at }) => [name, revoked_at]));
    const isRevoked = registrations.map(({ datedAt }, index) =>
      (named[index] ?? []).some((name) => datedAt <= (revokedAt.get(name) ?? Number.NEGATIVE_INFINITY)),
    );
    const revoked = registrations.filter((_each, index) => isRevoked[index]);
    for (const { realmUuid, addressee, token, datedAt } of revoked) {
      const device = { realmUuid, addressees: [addressee], token, revokedAt: datedAt };
      await database.write(({ db }) => this.#deleteDevices(db, device));
    }
    return isRevoked;
  }

  async #deleteDevices(
    db: Transaction<RelayTables>,
    { realmUuid, addressees, token, revokedAt }: Revocation,
  ): Promise<void> {
    await db
      .deleteFrom('relay_devices')
      .where('realm_id', 'in', db.selectFrom('realms').select('id').where('uuid', '=', realmUuid))
      .where('push_account_id', 'in', addressees)
      .where('token_lookup', 'in', this.#options.tokenVault.lookups(token))
      .where((is) => is.or([is('dated_at', 'is', null), is('dated_at', '<=', revokedAt)]))
      .execute();
  }

  /**
   * Returns the names under which a revocation may be stored, the current name first. While token keys are being
   * rotated, a stored revocation may have one of the other names.
   */
  #namesOf({
    realmUuid,
    addressee,
    token,
  }: Omit<DatedRegistration, 'datedAt'>): readonly [string, ...string[]] {
    return this.#options.tokenVault.lookups(`revoked ${realmUuid} ${addressee} ${token}`);
  }
}

async function storeRevocations(
  db: Transaction<RelayTables>,
  names: readonly string[],
  revokedAt: number,
): Promise<void> {
  const forgetAt = revokedAt + livenessMilliseconds + 1000;
  // Sorted, because without a fixed lock order two transactions could deadlock.
  const rows = [...names].sort().map((name) => ({ name, revoked_at: revokedAt, forget_at: forgetAt }));
  await db
    .insertInto('revocations')
    .values(rows)
    .onConflict((conflict) =>
      conflict
        .column('name')
        .doUpdateSet(({ ref }) => ({
          revoked_at: ref('excluded.revoked_at'),
          forget_at: ref('excluded.forget_at'),
        }))
        .where((is) => is(is.ref('revocations.revoked_at'), '<', is.ref('excluded.revoked_at'))),
    )
    .execute();
}

/**
 * Deletes up to `limit` revocations whose registrations have expired at `now`. Returns the number of deleted
 * revocations.
 */
export async function forgetRevocations(
  db: Transaction<RelayTables>,
  now: number,
  limit: number,
): Promise<number> {
  const old = db.selectFrom('revocations').select('name').where('forget_at', '<=', now).limit(limit);
  const deleted = await db
    .deleteFrom('revocations')
    .where('name', 'in', old)
    // Repeats the subquery's condition: a later revocation can extend a row between the two reads.
    .where('forget_at', '<=', now)
    .returning('name')
    .execute();
  return deleted.length;
}
