import type { BreakerScope } from './breaker-store.js';

/** The account and phone that a vendor's response is about. Each account and each phone counts once. */
export interface Owner {
  readonly account: string;
  readonly phone: string;
}

export interface FrozenWatchOptions extends BreakerScope {
  /** Unix milliseconds. */
  readonly since: number;
  readonly lastsMilliseconds: number;
}

/** Number of dead tokens below which they are noise: several tokens die every day, even with little traffic. */
const fewestDead = 3;
const holdAgainMilliseconds = 15 * 60_000;
/** Each owner has two names: an account and a phone. */
const maximumNames = 20_000;

/**
 * Counts outcomes since a scope was frozen or last reviewed. Each owner counts at most once as sent and once as dead.
 */
export class FrozenWatch {
  readonly app: string;
  readonly scope: string;
  readonly lastsMilliseconds: number;
  #since: number;
  #heldAt = Number.NEGATIVE_INFINITY;
  #sent = 0;
  #dead = 0;
  readonly #owners = { sent: new Set<string>(), dead: new Set<string>() };

  constructor({ app, scope, since, lastsMilliseconds }: FrozenWatchOptions) {
    this.app = app;
    this.scope = scope;
    this.#since = since;
    this.lastsMilliseconds = lastsMilliseconds;
  }

  /** Whether this is the owner's first outcome of this kind in the current period. */
  isFirst(kind: 'sent' | 'dead', { account, phone }: Owner): boolean {
    const names = [`account ${account}`, `phone ${phone}`];
    const owners = this.#owners[kind];
    if (names.some((name) => owners.has(name))) return false;
    // The set is full. Count further owners only as dead, so that a doubtful scope stays frozen.
    if (owners.size >= maximumNames) return kind === 'dead';
    for (const name of names) owners.add(name);
    return true;
  }

  count(kind: 'sent' | 'dead'): void {
    if (kind === 'sent') this.#sent += 1;
    else this.#dead += 1;
  }

  isOver(now: number): boolean {
    return now - this.#since >= this.lastsMilliseconds;
  }

  /** Whether at most `share` of the counted tokens are dead, or fewer than three tokens are. */
  wasUsual(share: number): boolean {
    return this.#dead < fewestDead || this.#share <= share;
  }

  /**
   * Whether this process must renew the freeze for other processes because more than `share` of its tokens are dead.
   * Returns `true` at most once per 15 minutes.
   */
  mustLock(share: number, now: number): boolean {
    const isDue = Math.abs(now - this.#heldAt) >= holdAgainMilliseconds;
    if (!isDue || this.wasUsual(share)) return false;
    this.#heldAt = now;
    return true;
  }

  /** Whether another process renewed the freeze after `since`; `at` is the stored time. */
  isLockedByOther(at: number, since: number): boolean {
    return at > since && at !== this.#heldAt;
  }

  /** Starts a new period at `now`. Returns when the previous period began. */
  begin(now: number): number {
    const since = this.#since;
    this.#since = now;
    this.#sent = this.#dead = 0;
    this.#owners.sent.clear();
    this.#owners.dead.clear();
    return since;
  }

  /** Dead tokens counted in this period. */
  get dead(): number {
    return this.#dead;
  }

  get #share(): number {
    return this.#dead / (this.#sent + this.#dead);
  }
}
