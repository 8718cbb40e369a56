import { matchingRows, type RowFilter, readPages } from '@waxwing/storage';
import { type Selectable, sql } from 'kysely';
import type { RelayDatabase, RelayTables } from '../../tables.js';

/** Kind of a circuit breaker. An `outage` does not pause notifications; it is stored only for `apps status`. */
export type BreakerKind = 'credential' | 'deletion' | 'outage';

const kinds: readonly BreakerKind[] = ['credential', 'deletion', 'outage'];

/** The part of an app that a breaker covers. */
export interface BreakerScope {
  readonly app: string;
  /** `realm <uuid>` or `server <uuid>` for frozen deletions of one realm or server; empty for the whole app. */
  readonly scope: string;
}

export interface StoredBreaker extends BreakerScope {
  readonly kind: BreakerKind;
  readonly reason: string;
  /** When the breaker was opened or last renewed, in Unix milliseconds. */
  readonly openedAt: number;
  /** When an operator confirmed the deletions; `undefined` while they are frozen. */
  readonly confirmedAt: number | undefined;
}

export interface NewBreaker extends Omit<BreakerScope, 'scope'> {
  readonly kind: BreakerKind;
  /** Default: the whole app. */
  readonly scope?: string;
  readonly reason: string;
  /** Unix milliseconds. */
  readonly at: number;
}

type BreakerRow = Selectable<RelayTables['app_breakers']>;

const breakersPerPage = 1000;

/** Circuit breakers in the database, shared by all processes of a relay and by the operators' commands. */
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

  /** Renews a freeze, for a process that still sees many dead tokens. Does not change confirmed breakers. */
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

  /** Returns when a scope was frozen or its freeze was last renewed; `undefined` if no freeze is stored. */
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

  /**
   * Deletes all credential breakers and outages. Called at startup, because a new process contacts every vendor again.
   */
  async forgetVendors(): Promise<void> {
    await this.#database.write(({ db }) =>
      db.deleteFrom('app_breakers').where('kind', 'in', ['credential', 'outage']).execute(),
    );
  }

  /** Confirms an app's frozen deletions in all its scopes. Returns whether any scope was frozen. */
  async confirm(app: string, now: number): Promise<boolean> {
    return this.#database.write(async ({ db }) => {
      const { numUpdatedRows } = await db
        .updateTable('app_breakers')
        .set({ confirmed_at: now })
        .where('app', '=', app)
        .where('kind', '=', 'deletion')
        .where('confirmed_at', 'is', null)
        .executeTakeFirstOrThrow();
      return numUpdatedRows > 0n;
    });
  }

  /** Lists all breakers, ordered by app, kind and scope. */
  async list(): Promise<StoredBreaker[]> {
    return (await this.#ordered().execute()).map(toBreaker);
  }

  /**
   * Yields pages of the matching breakers, in the order of {@link list}. The filter's text is matched against app,
   * scope and reason.
   */
  async *pages(filter: RowFilter): AsyncGenerator<StoredBreaker[]> {
    const pages = readPages<BreakerRow>(breakersPerPage, (last) =>
      this.#ordered()
        .$if(last !== undefined, (all) =>
          all.where(sql<boolean>`(app, kind, scope) > (${last?.app}, ${last?.kind}, ${last?.scope})`),
        )
        .limit(breakersPerPage)
        .execute(),
    );
    const found = matchingRows(pages, filter, ({ app, scope, reason }) => [app, scope, reason]);
    for await (const rows of found) yield rows.map(toBreaker);
  }

  #ordered() {
    const all = this.#database.db.selectFrom('app_breakers').selectAll();
    return all.orderBy('app').orderBy('kind').orderBy('scope');
  }
}

function toBreaker(row: BreakerRow): StoredBreaker {
  return {
    app: row.app,
    scope: row.scope,
    kind: kinds.find((kind) => kind === row.kind) ?? 'credential',
    reason: row.reason,
    openedAt: row.opened_at,
    confirmedAt: row.confirmed_at ?? undefined,
  };
}

/** Unique key of one scope of one app. */
export function scopeKey({ app, scope }: BreakerScope): string {
  return `${app} ${scope}`;
}
