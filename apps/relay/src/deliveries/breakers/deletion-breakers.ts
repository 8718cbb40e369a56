import { hash } from 'node:crypto';
import type { Clock } from '@waxwing/service/lifecycle';
import type { Log } from '@waxwing/service/logging';
import { LRUCache } from 'lru-cache';
import { RecentLookups } from '../../servers/recent-lookups.js';
import type { Delivery, EncryptedNotification } from '../delivery.js';
import { AppShares, type Scope } from './app-shares.js';
import { type BreakerStore, type StoredBreaker, scopeKey } from './breaker-store.js';
import { DeathShare } from './death-share.js';
import { FrozenWatch, type Owner } from './frozen-watch.js';

export interface DeletionBreakersOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly store: BreakerStore;
  /** Called with an app's number of frozen scopes. A scope is a realm, a server or the whole app. */
  onChange(appId: string, frozen: number): void;
}

const hourMilliseconds = 60 * 60_000;
/** How long deletions continue after an operator confirmed them, regardless of the share of dead tokens. */
const confirmedMilliseconds = 24 * hourMilliseconds;
/** A freeze that follows a thaw within this time lasts twice as long as the previous freeze, but at most this long. */
const relapseMilliseconds = 24 * hourMilliseconds;
const reloadMilliseconds = 2000;
const maximumApps = 10_000;
const maximumThawed = 10_000;
/** Default share, for scopes without outcomes since this process started. */
const unansweredShare = new DeathShare();
/** Maximum number of remembered names. An owner has two names per scope: the account and the phone. */
const maximumNames = 60_000;

/**
 * Circuit breaker for device deletions. Freezes deletions when a vendor suddenly reports far more dead tokens than
 * usual: a vendor fault or a wrong configuration has the same symptom, and a deletion cannot be undone. Deliveries
 * continue.
 *
 * Freezes deletions for one realm, for a server if several of its realms are affected, or for the whole app if several
 * servers are affected. A single user or server therefore cannot freeze the deletions of others.
 *
 * Thaws when an operator confirms the deletions, or after one hour with few dead tokens in every process. Each process
 * counts separately and learns of another process's freeze within seconds.
 */
export class DeletionBreakers {
  readonly #options: DeletionBreakersOptions;
  readonly #apps = new LRUCache<string, AppShares>({ max: maximumApps });
  /** Accounts and tokens that were counted in a scope within the last hour, with the era of the scope's share. */
  readonly #counted: Readonly<Record<'sent' | 'dead', RecentLookups<object>>>;
  readonly #frozen = new Map<string, FrozenWatch>();
  /** Durations of recently thawed freezes. */
  readonly #thawed: RecentLookups<number>;
  readonly #confirmed = new Map<string, number>();
  /** Freezes that are being stored. */
  readonly #freezing = new Map<string, Promise<void>>();
  /** Number of freezes that this process stored. */
  #freezes = 0;
  #loadedAt = Number.NEGATIVE_INFINITY;
  #loading: Promise<void> | undefined;

  constructor(options: DeletionBreakersOptions) {
    this.#options = options;
    const { clock } = options;
    const hourly = {
      clock,
      lifetimeMilliseconds: hourMilliseconds,
      maximumEntries: maximumNames,
    };
    this.#counted = { sent: new RecentLookups(hourly), dead: new RecentLookups(hourly) };
    this.#thawed = new RecentLookups({
      clock,
      lifetimeMilliseconds: relapseMilliseconds,
      maximumEntries: maximumThawed,
    });
  }

  noteSent(appId: string, delivery: Delivery): void {
    const now = this.#options.clock();
    const owner = new OwnerOfDelivery(delivery);
    for (const scope of this.#scopesOf(appId, delivery.notification)) {
      if (!this.#isFirst('sent', scope, owner)) continue;
      scope.share.noteSent(now);
      this.#frozen.get(scope.key)?.count('sent');
    }
  }

  /** Counts a dead token. Resolves to whether it may be deleted. */
  async mayDelete(appId: string, delivery: Delivery): Promise<boolean> {
    await this.takeUpChanges();
    // Review before counting, because a thaw resets the counts.
    await this.review();
    const scopes = this.#scopesOf(appId, delivery.notification);
    this.#noteDead(scopes, new OwnerOfDelivery(delivery));
    if (scopes.some(({ key }) => this.#frozen.has(key))) return false;
    for (const scope of scopes) {
      if (!scope.share.isUnusual || this.#isConfirmed(scope.key)) continue;
      // Read the stored state: another process may have frozen this scope, and an operator may have confirmed it.
      await this.#reload();
      if (this.#isConfirmed(scope.key)) continue;
      if (!this.#frozen.has(scope.key)) await this.#freezeOnce(scope);
      return false;
    }
    return true;
  }

  /**
   * Thaws scopes whose share of dead tokens was usual for a whole period. Must be called periodically. Does nothing if
   * no scope is frozen.
   */
  async review(): Promise<void> {
    const now = this.#options.clock();
    const { store } = this.#options;
    for (const [key, watch] of this.#frozen) {
      const { app, scope } = watch;
      const { thawingShare } = this.#apps.get(app)?.find(scope) ?? unansweredShare;
      if (watch.mustLock(thawingShare, now)) await store.hold(watch, now);
      if (!watch.isOver(now)) continue;
      const wasUsual = watch.wasUsual(thawingShare);
      const since = watch.begin(now);
      if (!wasUsual || watch.isLockedByOther((await store.heldAt(watch)) ?? now, since)) continue;
      await store.close(app, 'deletion', scope);
      this.#thaw(key, 'the share of dead tokens was usual for long enough: deletions resume');
    }
  }

  /** Returns how many of an app's dead tokens this process has kept in the current periods of all freezes. */
  frozenDeaths(appId: string): number {
    const watches = [...this.#frozen.values()].filter(({ app }) => app === appId);
    return watches.reduce((total, { dead }) => total + dead, 0);
  }

  /** Loads freezes and operators' confirmations from the database. */
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
        if (this.#frozen.has(key)) this.#resume(key, 'an operator confirmed the deletions: they resume');
      }
    }
    for (const key of [...this.#frozen.keys()]) {
      if (!stillFrozen.has(key))
        this.#thaw(key, 'another relay found that the share of dead tokens is usual again');
    }
    this.#loadedAt = this.#options.clock();
  }

  /** Loads other processes' freezes and operators' confirmations. Queries the database at most every two seconds. */
  async takeUpChanges(): Promise<void> {
    const isFresh = Math.abs(this.#options.clock() - this.#loadedAt) < reloadMilliseconds;
    if (!isFresh) await this.#reload();
  }

  #noteDead(scopes: readonly Scope[], owner: Owner): void {
    const now = this.#options.clock();
    for (const scope of scopes) {
      if (!this.#isFirst('dead', scope, owner)) continue;
      if (scope.share.noteDead(scope.cause, now)) this.#frozen.get(scope.key)?.count('dead');
    }
  }

  #isFirst(kind: 'sent' | 'dead', { key, share }: Scope, owner: Owner): boolean {
    const watch = this.#frozen.get(key);
    if (watch !== undefined) return watch.isFirst(kind, owner);
    const counted = this.#counted[kind];
    const account = `${key} account ${owner.account}`;
    if (counted.get(account) === share.era) return false;
    const phone = `${key} phone ${owner.phone}`;
    if (counted.get(phone) === share.era) return false;
    for (const name of [account, phone]) counted.remember(name, share.era);
    return true;
  }

  #reload(): Promise<void> {
    this.#loading ??= this.load().finally(() => {
      this.#loading = undefined;
    });
    return this.#loading;
  }

  /**
   * Reads the stored breakers. Reads again if this process froze a scope during the read, because the read may have
   * missed that freeze.
   */
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

  /** Stores a freeze before it takes effect: operators could not confirm a freeze that exists only in memory. */
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
    const lasted = this.#thawed.get(key);
    const lastsMilliseconds =
      lasted === undefined ? hourMilliseconds : Math.min(2 * lasted, relapseMilliseconds);
    const since = this.#options.clock();
    this.#frozen.set(key, new FrozenWatch({ app, scope, since, lastsMilliseconds }));
    const share = this.#apps.get(app)?.find(scope);
    if (share !== undefined) share.isFrozen = true;
    this.#reportChange(app);
  }

  #thaw(key: string, why: string): void {
    const watch = this.#frozen.get(key);
    if (watch !== undefined) this.#thawed.remember(key, watch.lastsMilliseconds);
    this.#resume(key, why);
  }

  #resume(key: string, why: string): void {
    const watched = this.#frozen.get(key);
    if (watched === undefined) return;
    const { app, scope } = watched;
    this.#frozen.delete(key);
    this.#apps.get(app)?.find(scope)?.restart();
    this.#reportChange(app);
    this.#options.log.info({ app, scope }, why);
  }

  #reportChange(appId: string): void {
    const frozen = [...this.#frozen.values()].filter(({ app }) => app === appId).length;
    this.#options.onChange(appId, frozen);
  }

  #scopesOf(appId: string, notification: EncryptedNotification): readonly Scope[] {
    let shares = this.#apps.get(appId);
    if (shares === undefined) {
      shares = new AppShares(appId, (key) => this.#frozen.has(key));
      this.#apps.set(appId, shares);
    }
    return shares.scopesOf(notification);
  }
}

/** Owner of a delivery's token. Hashes the token lazily: only a phone's first outcome in an hour needs the hash. */
class OwnerOfDelivery implements Owner {
  readonly account: string;
  readonly #token: string;
  #phone: string | undefined;

  constructor({ notification: { realmId, addressee }, device }: Delivery) {
    this.account = `${realmId} ${addressee}`;
    this.#token = device.target.token;
  }

  get phone(): string {
    this.#phone ??= hash('sha256', this.#token, 'base64');
    return this.#phone;
  }
}
