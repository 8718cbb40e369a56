import type { RelayDatabase } from '../../tables.js';

export type BreakerKind = 'credential' | 'deletion';

/** The part of an app that a breaker is for. */
export interface BreakerScope {
  readonly app: string;
  /** `realm <uuid>` or `server <uuid>` where only that one's deletions are frozen; empty for the whole app. */
  readonly scope: string;
}

export interface StoredBreaker extends BreakerScope {
  readonly kind: BreakerKind;
  readonly reason: string;
  /** When it was opened, or a process last held it. */
  readonly openedAt: number;
  /** When an operator confirmed the deletions; `undefined` while they are frozen. */
  readonly confirmedAt: number | undefined;
}

export interface NewBreaker extends Omit<BreakerScope, 'scope'> {
  readonly kind: BreakerKind;
  /** The whole app where nothing is said. */
  readonly scope?: string;
  readonly reason: string;
  /** Unix milliseconds. */
  readonly at: number;
}

/** Breakers where operators' commands and all processes of a relay see them. */
export class BreakerStore {
  readonly #database: RelayDatabase;

  constructor(database: RelayDatabase) {
    this.#database = database;
  }

  async open({ app, kind, scope = '', reason, at }: NewBreaker): Promise<void> {
    const change = { reason, opened_at: at, confirmed_at: null };
    await this.#database.write(({ db }) =>
      db
        .insertInto('app_breakers')
        .values({ app, kind, scope, ...change })
        .onConflict((conflict) => conflict.columns(['app', 'kind', 'scope']).doUpdateSet(change))
        .execute(),
    );
  }

  async close(app: string, kind: BreakerKind, scope = ''): Promise<void> {
    await this.#database.write(({ db }) =>
      db
        .deleteFrom('app_breakers')
        .where('app', '=', app)
        .where('kind', '=', kind)
        .where('scope', '=', scope)
        .execute(),
    );
  }

  /** Tells the other processes that one still sees many dead tokens; changes nothing that an operator confirmed. */
  async hold({ app, scope }: BreakerScope, at: number): Promise<void> {
    await this.#database.write(({ db }) =>
      db
        .updateTable('app_breakers')
        .set({ opened_at: at })
        .where('app', '=', app)
        .where('kind', '=', 'deletion')
        .where('scope', '=', scope)
        .where('confirmed_at', 'is', null)
        .execute(),
    );
  }

  /** When a scope's deletions were frozen or last held; `undefined` while they go on. */
  async heldAt({ app, scope }: BreakerScope): Promise<number | undefined> {
    const row = await this.#database.db
      .selectFrom('app_breakers')
      .select('opened_at')
      .where('app', '=', app)
      .where('kind', '=', 'deletion')
      .where('scope', '=', scope)
      .executeTakeFirst();
    return row?.opened_at;
  }

  /** A process that starts asks the vendors again whether they take its credentials. */
  async forgetCredentials(): Promise<void> {
    await this.#database.write(({ db }) =>
      db.deleteFrom('app_breakers').where('kind', '=', 'credential').execute(),
    );
  }

  /** Lets an app's deletions go on, in all of its realms. Whether there were frozen ones. */
  async confirm(app: string, now: number): Promise<boolean> {
    const { numUpdatedRows } = await this.#database.write(({ db }) =>
      db
        .updateTable('app_breakers')
        .set({ confirmed_at: now })
        .where('app', '=', app)
        .where('kind', '=', 'deletion')
        .where('confirmed_at', 'is', null)
        .executeTakeFirstOrThrow(),
    );
    return numUpdatedRows > 0n;
  }

  async list(): Promise<StoredBreaker[]> {
    const rows = await this.#database.db
      .selectFrom('app_breakers')
      .selectAll()
      .orderBy('app')
      .orderBy('kind')
      .orderBy('scope')
      .execute();
    return rows.map((row) => ({
      app: row.app,
      scope: row.scope,
      kind: row.kind === 'deletion' ? 'deletion' : 'credential',
      reason: row.reason,
      openedAt: row.opened_at,
      confirmedAt: row.confirmed_at ?? undefined,
    }));
  }
}

/** Tells one part of one app from all others. */
export function scopeKey({ app, scope }: BreakerScope): string {
  return `${app} ${scope}`;
}
