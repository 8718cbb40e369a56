import type { LRUCache } from 'lru-cache';
import { smallLruMap } from './small-lru-map.js';

/** Size of the moving window: about this many recent outcomes count. Newer outcomes weigh more. */
const memoryOutcomes = 100;
const kept = 1 - 1 / memoryOutcomes;
const hourMilliseconds = 60 * 60_000;
const ageAtLeastMilliseconds = 60_000;
/**
 * Maximum number of dead tokens that are noise: a small organization may replace all of its phones at the same time.
 */
const fewestDead = 20;
/** Decayed weight of `fewestDead` consecutive dead tokens, plus half a token as a margin for rounding. */
const fewestWeight = memoryOutcomes * (1 - kept ** (fewestDead + 0.5));
/** Maximum of dead tokens per cause. Less than half of `fewestDead`, so that at least three causes are needed. */
const mostPerCause = 9;
const leastShare = 0.2;
/** Share above which a scope is unusual, regardless of its usual share. */
const mostShare = 0.9;
const timesUsual = 5;
/**
 * A scope thaws at half the share that froze it. The full share would not prove recovery, because tokens that were
 * deleted before the freeze no longer count.
 */
const thawingPart = 0.5;
const initialUsualShare = 0.02;
const usualOutcomes = 3000;
const maximumCauses = 1000;

/** Dead tokens that one realm or server has added, and the number of outcomes when it added the last one. */
interface Contribution {
  readonly dead: number;
  readonly outcomes: number;
}

/**
 * Detects an unusual share of dead tokens, in an exponentially decayed window of about 100 outcomes. A share is unusual
 * if more than 20 tokens are dead and the share is above its limit: five times the usual share, but at least 20% and at
 * most 90%. More than 20 consecutive dead tokens are also unusual. An hour without outcomes counts as 100 outcomes.
 */
export class DeathShare {
  /**
   * Whether the scope is frozen. If so, outcomes do not change the usual share: a mistake must not become the baseline.
   */
  isFrozen = false;
  /** Identity of the current counting period. {@link restart} replaces it, so that owners can be counted again. */
  era: object = {};
  #sent = 0;
  #dead = 0;
  /** Dead tokens since the last sent notification. */
  #run = 0;
  #outcomes = 0;
  #agedAt = Number.NEGATIVE_INFINITY;
  #usualShare = initialUsualShare;
  /** Created on demand, because most shares belong to realms, which have no causes. */
  #causes: LRUCache<string, Contribution> | undefined;

  noteSent(now: number): void {
    this.#pass(now);
    this.#sent += 1;
    this.#run = 0;
    this.#learn(0);
  }

  /**
   * Counts a dead token at `now` (Unix milliseconds). Returns whether it counted. Each `cause`, such as a realm, is
   * capped, so that a single cause never makes the share unusual.
   */
  noteDead(cause: string | undefined, now: number): boolean {
    if (cause !== undefined && !this.#contribute(cause)) return false;
    this.#pass(now);
    this.#dead += 1;
    this.#run += 1;
    this.#learn(1);
    return true;
  }

  /** Whether far more tokens than usual are dead. */
  get isUnusual(): boolean {
    const share = this.#dead / (this.#sent + this.#dead);
    return this.#run > fewestDead || (this.#dead > fewestWeight && share > this.highestShare);
  }

  /** Highest share of dead tokens that is not unusual. */
  get highestShare(): number {
    return Math.min(mostShare, Math.max(leastShare, timesUsual * this.#usualShare));
  }

  /** Highest share at which a frozen scope thaws. */
  get thawingShare(): number {
    return thawingPart * this.highestShare;
  }

  /** Describes the current and the usual share in a sentence for operators. */
  describe(): string {
    const percent = (share: number) => `${Math.round(share * 1000) / 10} %`;
    const share = this.#dead / (this.#sent + this.#dead);
    return `${percent(share)} of the last tokens were reported dead, usually ${percent(this.#usualShare)}`;
  }

  /** Resets everything except the usual share. */
  restart(): void {
    this.isFrozen = false;
    this.era = {};
    this.#sent = this.#dead = this.#run = 0;
    this.#causes = undefined;
  }

  #pass(now: number): void {
    const elapsed = now - this.#agedAt;
    // A negative value means that the clock went backward, so the elapsed time is unknown.
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
