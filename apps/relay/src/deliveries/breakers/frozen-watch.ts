import type { BreakerScope } from './breaker-store.js';

/** Whose answer it was: each account and each phone weighs one. */
export interface Owner {
  readonly account: string;
  readonly phone: string;
}

export interface FrozenWatchOptions extends BreakerScope {
  /** Unix milliseconds. */
  readonly since: number;
  readonly lastsMilliseconds: number;
}

/** So many are no accident; fewer happen every day, also where hardly anything else does. */
const fewestDead = 3;
const holdAgainMilliseconds = 15 * 60_000;
const maximumOwners = 20_000;

/** What came since deletions were frozen, or since it was last judged: each owner once as living and once as dead. */
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

  /** Whether it is the owner's first answer of this kind. */
  isFirst(kind: 'sent' | 'dead', { account, phone }: Owner): boolean {
    const names = [`account ${account}`, `phone ${phone}`];
    const owners = this.#owners[kind];
    if (names.some((name) => owners.has(name))) return false;
    // Whom there is no room to remember counts as dead only: in doubt it stays frozen.
    if (owners.size >= maximumOwners) return kind === 'dead';
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

  /** Whether at most `share` of the answers were dead, or so few that they say nothing. */
  wasUsual(share: number): boolean {
    return this.#dead < fewestDead || this.#share <= share;
  }

  /** Whether other processes must hear now that more than `share` are dead here; then not again for a while. */
  mustHold(share: number, now: number): boolean {
    const isDue = Math.abs(now - this.#heldAt) >= holdAgainMilliseconds;
    if (!isDue || this.wasUsual(share)) return false;
    this.#heldAt = now;
    return true;
  }

  /** Whether what is stored as held at `at` was held since `since` by another process. */
  isHeldByOther(at: number, since: number): boolean {
    return at > since && at !== this.#heldAt;
  }

  /** Begins again at `now`. When the former watch began. */
  begin(now: number): number {
    const since = this.#since;
    this.#since = now;
    this.#sent = this.#dead = 0;
    this.#owners.sent.clear();
    this.#owners.dead.clear();
    return since;
  }

  get #share(): number {
    return this.#dead / (this.#sent + this.#dead);
  }
}
