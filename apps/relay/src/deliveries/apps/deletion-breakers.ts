import type { Clock, Log } from '@waxwing/service';
import type { BreakerStore, StoredBreaker } from './breaker-store.js';

export interface DeletionBreakersOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly store: BreakerStore;
  onChange(appId: string, isOpen: boolean): void;
}

/** What one app's vendor said of late. */
interface Window {
  startedAt: number;
  sent: number;
  gone: number;
  /** Share of dead tokens in former windows, each newer one weighing more. */
  usualShare: number;
}

const windowMilliseconds = 60 * 60_000;
const windowOutcomes = 1000;
/** Fewer dead tokens than this say nothing: a small organisation may well clear out its phones. */
const fewestDead = 20;
const leastShare = 0.2;
/** So many are never usual, whatever came before. */
const mostShare = 0.9;
const timesUsual = 5;
const weightOfLatest = 0.3;
const initialUsualShare = 0.02;
/** After an operator confirmed, deletions go on for so long whatever the share. */
const confirmedMilliseconds = 24 * 60 * 60_000;
const reloadMilliseconds = 2000;
const maximumApps = 10_000;

/**
 * Freezes an app's deletions when its vendor suddenly calls far more tokens dead than usual: a mistake at the vendor or
 * in the configuration looks exactly like that, and deletions cannot be undone. Deliveries go on.
 */
export class DeletionBreakers {
  readonly #options: DeletionBreakersOptions;
  readonly #windows = new Map<string, Window>();
  readonly #frozen = new Set<string>();
  readonly #confirmed = new Map<string, number>();
  /** Apps whose freezing is being stored. */
  readonly #freezing = new Map<string, Promise<void>>();
  /** How many freezings this process has stored. */
  #freezes = 0;
  #loadedAt = Number.NEGATIVE_INFINITY;
  #loading: Promise<void> | undefined;

  constructor(options: DeletionBreakersOptions) {
    this.#options = options;
  }

  noteSent(appId: string): void {
    this.#windowOf(appId).sent += 1;
  }

  /** Counts a dead token. Whether it may be deleted. */
  async mayDelete(appId: string): Promise<boolean> {
    await this.takeUpConfirmations();
    const window = this.#windowOf(appId);
    window.gone += 1;
    if (this.#frozen.has(appId)) return false;
    if (this.#isConfirmed(appId) || !isJump(window)) return true;
    // Another process may have frozen them before, and an operator confirmed.
    await this.#reload();
    if (this.#isConfirmed(appId)) return true;
    if (!this.#frozen.has(appId)) {
      const freezing = this.#freezing.get(appId) ?? this.#freeze(appId, window);
      this.#freezing.set(appId, freezing);
      try {
        await freezing;
      } finally {
        this.#freezing.delete(appId);
      }
    }
    return false;
  }

  /** For readiness and people; `undefined` when nothing is frozen. */
  describe(): string | undefined {
    if (this.#frozen.size === 0) return undefined;
    const apps = [...this.#frozen].join(', ');
    return `deletions are frozen for ${apps}: run "waxwing-relay apps status"`;
  }

  /** Reads what is frozen and what operators confirmed. */
  async load(): Promise<void> {
    for (const { app, kind, confirmedAt } of await this.#read()) {
      if (kind !== 'deletion') continue;
      if (confirmedAt === undefined) {
        this.#markFrozen(app);
      } else {
        this.#confirmed.set(app, confirmedAt);
        if (this.#frozen.delete(app)) this.#resume(app);
      }
    }
    this.#loadedAt = this.#options.clock();
  }

  /** Notices what an operator confirmed since; asks the database only while something is frozen. */
  async takeUpConfirmations(): Promise<void> {
    const isFresh = Math.abs(this.#options.clock() - this.#loadedAt) < reloadMilliseconds;
    if (this.#frozen.size > 0 && !isFresh) await this.#reload();
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

  #isConfirmed(appId: string): boolean {
    const confirmedAt = this.#confirmed.get(appId);
    return confirmedAt !== undefined && this.#options.clock() - confirmedAt < confirmedMilliseconds;
  }

  /** Stored first: what only memory knows no operator could confirm. */
  async #freeze(appId: string, { sent, gone, usualShare }: Window): Promise<void> {
    const now = this.#options.clock();
    const reason = `${gone} of the last ${sent + gone} tokens were called dead, usually ${percent(usualShare)}`;
    this.#options.log.error(
      { app: appId, reason },
      'deletions are frozen: look for a mistake, then run "waxwing-relay apps confirm-deletions"',
    );
    await this.#options.store.open({ app: appId, kind: 'deletion', reason, at: now });
    this.#freezes += 1;
    this.#confirmed.delete(appId);
    this.#markFrozen(appId);
  }

  #markFrozen(appId: string): void {
    if (this.#frozen.has(appId)) return;
    this.#frozen.add(appId);
    this.#options.onChange(appId, true);
  }

  #resume(appId: string): void {
    this.#windows.delete(appId);
    this.#options.onChange(appId, false);
    this.#options.log.info({ app: appId }, 'an operator confirmed the deletions: they go on');
  }

  #windowOf(appId: string): Window {
    const now = this.#options.clock();
    const window = this.#windows.get(appId);
    if (window === undefined) {
      const fresh = { startedAt: now, sent: 0, gone: 0, usualShare: initialUsualShare };
      this.#windows.set(appId, fresh);
      const [oldest] = this.#windows.keys();
      if (this.#windows.size > maximumApps && oldest !== undefined) this.#windows.delete(oldest);
      return fresh;
    }
    const outcomes = window.sent + window.gone;
    if (outcomes >= windowOutcomes || (outcomes > 0 && now - window.startedAt >= windowMilliseconds)) {
      const share = window.gone / outcomes;
      // A quiet hour says little about what is usual.
      const weight = weightOfLatest * Math.min(1, outcomes / windowOutcomes);
      window.usualShare += weight * (share - window.usualShare);
      Object.assign(window, { startedAt: now, sent: 0, gone: 0 });
    }
    return window;
  }
}

function isJump({ sent, gone, usualShare }: Window): boolean {
  const jump = Math.min(mostShare, Math.max(leastShare, timesUsual * usualShare));
  return gone > fewestDead && gone / (sent + gone) > jump;
}

function percent(share: number): string {
  return `${Math.round(share * 1000) / 10} %`;
}
