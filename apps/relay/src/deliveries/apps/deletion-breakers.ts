import { createHash } from 'node:crypto';
import type { Clock, Log } from '@waxwing/service';
import { RecentLookups } from '../../servers/recent-lookups.js';
import type { Delivery, Notification } from '../delivery.js';
import { AppShares, type Scope } from './app-shares.js';
import { type BreakerStore, type StoredBreaker, scopeKey } from './breaker-store.js';

export interface DeletionBreakersOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly store: BreakerStore;
  /** Told how many of an app's realms and servers are frozen now, the app itself counted as one. */
  onChange(appId: string, frozen: number): void;
}

/** What came after the freezing, or within the hour that is watched now. */
interface Watched extends Pick<StoredBreaker, 'app' | 'scope'> {
  since: number;
  sent: number;
  dead: number;
}

const hourMilliseconds = 60 * 60_000;
/** After an operator confirmed, deletions go on for so long whatever the share. */
const confirmedMilliseconds = 24 * hourMilliseconds;
const reloadMilliseconds = 2000;
const maximumApps = 10_000;
const maximumOwners = 20_000;

/**
 * Freezes deletions when a vendor suddenly calls far more tokens dead than usual: a mistake at the vendor or in the
 * configuration looks exactly like that, and deletions cannot be undone. Deliveries go on. Frozen is the realm where it
 * happens; a server when it happens in several of its realms, and the whole app when it happens with several servers, so
 * that no member and no server can freeze what belongs to others. It thaws by itself after an hour in which the share
 * was usual, or when an operator confirms.
 */
export class DeletionBreakers {
  readonly #options: DeletionBreakersOptions;
  readonly #apps = new Map<string, AppShares>();
  /** Push accounts and tokens that were counted as dead within the hour: each owner and each phone weighs one. */
  readonly #counted: RecentLookups<true>;
  readonly #frozen = new Map<string, Watched>();
  readonly #confirmed = new Map<string, number>();
  /** What is being stored as frozen. */
  readonly #freezing = new Map<string, Promise<void>>();
  /** How many freezings this process has stored. */
  #freezes = 0;
  #loadedAt = Number.NEGATIVE_INFINITY;
  #loading: Promise<void> | undefined;

  constructor(options: DeletionBreakersOptions) {
    this.#options = options;
    this.#counted = new RecentLookups({
      clock: options.clock,
      lifetimeMilliseconds: hourMilliseconds,
      maximumEntries: maximumOwners,
    });
  }

  noteSent(appId: string, notification: Notification): void {
    const now = this.#options.clock();
    for (const { key, share } of this.#scopesOf(appId, notification)) {
      share.noteSent(now);
      const watched = this.#frozen.size === 0 ? undefined : this.#frozen.get(key);
      if (watched !== undefined) watched.sent += 1;
    }
  }

  /** Counts a dead token. Whether it may be deleted. */
  async mayDelete(appId: string, { notification, device }: Delivery): Promise<boolean> {
    await this.takeUpConfirmations();
    const scopes = this.#scopesOf(appId, notification);
    if (this.#isFirstOf(appId, notification, device.target.token)) this.#noteDead(scopes);
    await this.review();
    if (scopes.some(({ key }) => this.#frozen.has(key))) return false;
    for (const scope of scopes) {
      if (!scope.share.isUnusual || this.#isConfirmed(scope.key)) continue;
      // Another process may have frozen it before, and an operator confirmed.
      await this.#reload();
      if (this.#isConfirmed(scope.key)) continue;
      if (!this.#frozen.has(scope.key)) await this.#freezeOnce(scope);
      return false;
    }
    return true;
  }

  /** Lets go on what was usual for an hour. Call it now and then; while nothing is frozen it does nothing. */
  async review(): Promise<void> {
    const now = this.#options.clock();
    for (const [key, watched] of this.#frozen) {
      const { app, scope, since, sent, dead } = watched;
      if (now - since < hourMilliseconds) continue;
      Object.assign(watched, { since: now, sent: 0, dead: 0 });
      const share = this.#apps.get(app)?.find(scope);
      // Without one that was sent nobody knows whether any token lives.
      if (share === undefined || sent === 0 || dead / (sent + dead) > share.highestShare) continue;
      await this.#options.store.close(app, 'deletion', scope);
      this.#resume(key, 'the share of dead tokens was usual for an hour: deletions go on');
    }
  }

  /** Reads what is frozen and what operators confirmed. */
  async load(): Promise<void> {
    const stillFrozen = new Set<string>();
    for (const breaker of await this.#read()) {
      if (breaker.kind !== 'deletion') continue;
      const key = scopeKey(breaker);
      if (breaker.confirmedAt === undefined) {
        stillFrozen.add(key);
        this.#markFrozen(breaker);
      } else {
        this.#confirmed.set(key, breaker.confirmedAt);
        if (this.#frozen.has(key)) this.#resume(key, 'an operator confirmed the deletions: they go on');
      }
    }
    for (const key of [...this.#frozen.keys()]) {
      if (!stillFrozen.has(key))
        this.#resume(key, 'another relay found the share of dead tokens usual again');
    }
    this.#loadedAt = this.#options.clock();
  }

  /** Notices what an operator confirmed since; asks the database only while something is frozen. */
  async takeUpConfirmations(): Promise<void> {
    const isFresh = Math.abs(this.#options.clock() - this.#loadedAt) < reloadMilliseconds;
    if (this.#frozen.size > 0 && !isFresh) await this.#reload();
  }

  #noteDead(scopes: readonly Scope[]): void {
    const now = this.#options.clock();
    for (const { key, share, cause } of scopes) {
      const watched = this.#frozen.get(key);
      if (share.noteDead(cause, now) && watched !== undefined) watched.dead += 1;
    }
  }

  #isFirstOf(appId: string, { realmId, pushAccountId }: Notification, token: string): boolean {
    const phone = createHash('sha256').update(token).digest('base64');
    const names = [`${appId} ${realmId} ${pushAccountId}`, `${appId} ${phone}`];
    const isFirst = names.every((name) => this.#counted.get(name) === undefined);
    if (isFirst) for (const name of names) this.#counted.remember(name, true);
    return isFirst;
  }

  #reload(): Promise<void> {
    this.#loading ??= this.load().finally(() => {
      this.#loading = undefined;
    });
    return this.#loading;
  }

  /** What is stored; read again when this process has frozen something meanwhile, which the first reading may not have. */
  async #read(): Promise<StoredBreaker[]> {
    for (;;) {
      const before = this.#freezes;
      const breakers = await this.#options.store.list();
      if (before === this.#freezes) return breakers;
    }
  }

  #isConfirmed(key: string): boolean {
    const confirmedAt = this.#confirmed.get(key);
    return confirmedAt !== undefined && this.#options.clock() - confirmedAt < confirmedMilliseconds;
  }

  async #freezeOnce(scope: Scope): Promise<void> {
    const key = scope.key;
    const freezing = this.#freezing.get(key) ?? this.#freeze(scope);
    this.#freezing.set(key, freezing);
    try {
      await freezing;
    } finally {
      this.#freezing.delete(key);
    }
  }

  /** Stored first: what only memory knows no operator could confirm. */
  async #freeze({ app, scope, share, key }: Scope): Promise<void> {
    const at = this.#options.clock();
    const reason = share.describe();
    this.#options.log.error(
      { app, scope, reason },
      'deletions are frozen until the share of dead tokens is usual again: look for a mistake, then run "waxwing-relay apps confirm-deletions"',
    );
    await this.#options.store.open({ app, kind: 'deletion', scope, reason, at });
    this.#freezes += 1;
    this.#confirmed.delete(key);
    this.#markFrozen({ app, scope });
  }

  #markFrozen({ app, scope }: Pick<StoredBreaker, 'app' | 'scope'>): void {
    const key = scopeKey({ app, scope });
    if (this.#frozen.has(key)) return;
    this.#frozen.set(key, { app, scope, since: this.#options.clock(), sent: 0, dead: 0 });
    const share = this.#apps.get(app)?.find(scope);
    if (share !== undefined) share.isFrozen = true;
    this.#tellChange(app);
  }

  #resume(key: string, why: string): void {
    const watched = this.#frozen.get(key);
    if (watched === undefined) return;
    const { app, scope } = watched;
    this.#frozen.delete(key);
    this.#apps.get(app)?.find(scope)?.restart();
    this.#tellChange(app);
    this.#options.log.info({ app, scope }, why);
  }

  #tellChange(appId: string): void {
    const frozen = [...this.#frozen.values()].filter(({ app }) => app === appId).length;
    this.#options.onChange(appId, frozen);
  }

  #scopesOf(appId: string, notification: Notification): readonly Scope[] {
    let shares = this.#apps.get(appId);
    if (shares === undefined) {
      shares = new AppShares(appId, (key) => this.#frozen.has(key));
      this.#apps.set(appId, shares);
      const [oldest] = this.#apps.keys();
      if (this.#apps.size > maximumApps && oldest !== undefined) this.#apps.delete(oldest);
    }
    return shares.scopesOf(notification);
  }
}
