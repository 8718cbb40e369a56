import type { LRUCache } from 'lru-cache';
import { smallLruMap } from './small-lru-map.js';

/** About so many of the last outcomes count; the newer, the more. */
const memoryOutcomes = 100;
const kept = 1 - 1 / memoryOutcomes;
const hourMilliseconds = 60 * 60_000;
const ageAtLeastMilliseconds = 60_000;
/** So many dead tokens say nothing: a small organisation may well clear out its phones. */
const fewestDead = 20;
/** What they weigh when nothing else came meanwhile; between two of them, so that rounding decides nothing. */
const fewestWeight = memoryOutcomes * (1 - kept ** (fewestDead + 0.5));
/** Less than half of what is needed: it takes three. */
const mostPerCause = 9;
const leastShare = 0.2;
/** So many are never usual, whatever came before. */
const mostShare = 0.9;
const timesUsual = 5;
/** What was deleted before the freezing is missing afterwards: half of what froze is no proof that it is over. */
const thawingPart = 0.5;
const initialUsualShare = 0.02;
const usualOutcomes = 3000;
const maximumCauses = 1000;

/** What one realm or one server adds, and when it added it. */
interface Contribution {
  readonly dead: number;
  readonly outcomes: number;
}

/**
 * Which share of tokens a vendor called dead lately, and whether that is far more than usual: over twenty of about the
 * last hundred outcomes, and a fifth of them or five times the usual share, or over twenty without one that was sent
 * between them. An hour of silence counts as a hundred outcomes.
 */
export class DeathShare {
  /** What is learnt of a mistake is not what is usual. */
  isFrozen = false;
  /** Another object after each restart: what was counted before it counts again. */
  era: object = {};
  #sent = 0;
  #dead = 0;
  /** Dead ones since the last one that was sent. */
  #run = 0;
  #outcomes = 0;
  #agedAt = Number.NEGATIVE_INFINITY;
  #usualShare = initialUsualShare;
  /** Made when it is needed: most shares are realms', which have no causes. */
  #causes: LRUCache<string, Contribution> | undefined;

  noteSent(now: number): void {
    this.#pass(now);
    this.#sent += 1;
    this.#run = 0;
    this.#learn(0);
  }

  /**
   * Counts a dead token at `now` (Unix milliseconds). Whether it counted: one `cause` alone, such as a realm, never
   * makes the share unusual, so that what it has over its part counts nothing.
   */
  noteDead(cause: string | undefined, now: number): boolean {
    if (cause !== undefined && !this.#contribute(cause)) return false;
    this.#pass(now);
    this.#dead += 1;
    this.#run += 1;
    this.#learn(1);
    return true;
  }

  /** Whether far more than usual are dead. */
  get isUnusual(): boolean {
    const share = this.#dead / (this.#sent + this.#dead);
    return this.#run > fewestDead || (this.#dead > fewestWeight && share > this.highestShare);
  }

  /** Up to which share dead tokens are nothing unusual. */
  get highestShare(): number {
    return Math.min(mostShare, Math.max(leastShare, timesUsual * this.#usualShare));
  }

  /** Up to which share it is usual again after a freezing. */
  get thawingShare(): number {
    return thawingPart * this.highestShare;
  }

  /** What was found dead of how many outcomes, and what is usual, for people. */
  describe(): string {
    const percent = (share: number) => `${Math.round(share * 1000) / 10} %`;
    const share = this.#dead / (this.#sent + this.#dead);
    return `${percent(share)} of the last tokens were called dead, usually ${percent(this.#usualShare)}`;
  }

  /** Begins again, but for what is usual. */
  restart(): void {
    this.isFrozen = false;
    this.era = {};
    this.#sent = this.#dead = this.#run = 0;
    this.#causes = undefined;
  }

  #pass(now: number): void {
    const elapsed = now - this.#agedAt;
    // A clock that was set back tells nothing about how much time has passed.
    if (elapsed >= ageAtLeastMilliseconds || elapsed < 0) {
      this.#agedAt = now;
      if (elapsed > 0) this.#age((elapsed / hourMilliseconds) * memoryOutcomes);
    }
    this.#outcomes += 1;
    this.#sent *= kept;
    this.#dead *= kept;
  }

  #age(outcomes: number): void {
    const factor = kept ** outcomes;
    this.#outcomes += Number.isFinite(outcomes) ? outcomes : 0;
    this.#sent *= factor;
    this.#dead *= factor;
    this.#run *= factor;
  }

  #contribute(cause: string): boolean {
    this.#causes ??= smallLruMap(maximumCauses);
    const former = this.#causes.get(cause);
    const before = former === undefined ? 0 : former.dead * kept ** (this.#outcomes - former.outcomes);
    if (before + 1 > mostPerCause) return false;
    this.#causes.set(cause, { dead: before + 1, outcomes: this.#outcomes });
    return true;
  }

  #learn(outcome: 0 | 1): void {
    if (!this.isFrozen) this.#usualShare += (outcome - this.#usualShare) / usualOutcomes;
  }
}
