import { type Log, TroubleLog } from '@waxwing/service/logging';
import type { AppTrouble } from '../apps/app-trouble.js';
import type { BreakerStore } from '../breakers/breaker-store.js';

export interface StoredOutagesOptions {
  readonly store: Pick<BreakerStore, 'open' | 'close'>;
  readonly log: Log;
}

/** Stores the vendor outages that this process sees, so that `apps status` shows them. */
export class StoredOutages {
  readonly #options: StoredOutagesOptions;
  readonly #troubleLog = new TroubleLog();
  readonly #current = new Map<string, AppTrouble>();
  /** Apps whose outage has ended but is still in the database. */
  readonly #ended = new Set<string>();
  #writing: Promise<void> = Promise.resolve();

  constructor(options: StoredOutagesOptions) {
    this.#options = options;
  }

  /** Stores an app's outage, or deletes the stored outage if `outage` is `undefined`. */
  note(app: string, outage: AppTrouble | undefined): void {
    if (outage === undefined) {
      if (this.#current.delete(app)) this.#ended.add(app);
    } else {
      this.#current.set(app, outage);
      this.#ended.delete(app);
    }
    void this.renew();
  }

  /**
   * Stores all current outages again. Another process may have deleted them when it started, or an earlier write may
   * have failed. Never rejects.
   */
  renew(): Promise<void> {
    this.#writing = this.#writing.then(() => this.#write());
    return this.#writing;
  }

  /** Resolves when all pending writes have finished. */
  async idle(): Promise<void> {
    await this.#writing;
  }

  async #write(): Promise<void> {
    const { store, log } = this.#options;
    try {
      for (const app of this.#ended) {
        await store.close(app, 'outage');
        this.#ended.delete(app);
      }
      for (const [app, { since, sentence }] of this.#current) {
        await store.open({ app, kind: 'outage', reason: sentence, at: since });
      }
      this.#troubleLog.end(() => log.info('"apps status" shows vendor outages again'));
    } catch (err) {
      this.#troubleLog.begin('stored', () =>
        log.warn({ err }, '"apps status" does not show all vendor outages: they cannot be stored'),
      );
    }
  }
}
