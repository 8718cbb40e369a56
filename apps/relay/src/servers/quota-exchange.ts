import { answerWithin, type Clock } from '@waxwing/service/lifecycle';
import { type Log, TroubleLog } from '@waxwing/service/logging';
import type { RelayDatabase } from '../tables.js';
import { ServerQuotas } from './server-quotas.js';
import { UsedQuotaStore } from './used-quota-store.js';

export interface QuotaExchangeOptions {
  readonly quotas: ServerQuotas;
  readonly store: UsedQuotaStore;
  readonly clock: Clock;
  readonly log: Log;
  /** Interval between exchanges, and the delay until other processes see this process's usage. */
  readonly intervalMilliseconds: number;
}

/**
 * Shares quota usage among all processes on a database. Once per interval, each process writes its own usage and reads
 * the total, so that no request waits for the database. Overuse within an interval is deducted afterward.
 *
 * While the database is unavailable, each process counts separately. A failed write is not retried: it may have been
 * committed, and a retry would count it twice.
 */
export class QuotaExchange {
  readonly #options: QuotaExchangeOptions;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #collectedAt: number | undefined;
  readonly #troubleLog = new TroubleLog();

  constructor(options: QuotaExchangeOptions) {
    this.#options = options;
  }

  /**
   * Starts the exchange. Resolves after the first exchange, which reads the earlier usage of other processes. Runs
   * until {@link stop}.
   */
  async start(): Promise<void> {
    await this.exchange();
    this.#timer = setInterval(() => void this.exchange(), this.#options.intervalMilliseconds).unref();
  }

  /**
   * Writes and reads once. Concurrent calls share one exchange (single-flight). Never rejects: logs one warning per
   * outage.
   */
  exchange(): Promise<void> {
    this.#running ??= this.#exchange().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  /** Stops the timer and flushes the last usage, waiting at most `deadlineMilliseconds`. */
  async stop(deadlineMilliseconds: number): Promise<void> {
    clearInterval(this.#timer);
    await answerWithin(deadlineMilliseconds, this.#reportLast(), undefined);
  }

  async #reportLast(): Promise<void> {
    // An exchange in flight may miss the last requests, so run another exchange after it.
    await this.#running;
    await this.exchange();
  }

  async #exchange(): Promise<void> {
    const { quotas, store, clock, log } = this.#options;
    try {
      await store.add(quotas.collect(), this.#lastCollection());
      const readAt = clock();
      // Pass the time before the read: a busy database answers late, and quotas refill while the read is in flight.
      quotas.adopt(await store.read(readAt), readAt);
      this.#troubleLog.end(() => log.info("servers' quotas are shared with the other relays again"));
    } catch (err) {
      this.#troubleLog.begin('away', () => {
        log.warn(
          { err },
          "servers' quotas cannot be shared: each relay counts separately until the database answers",
        );
      });
    }
  }

  /**
   * Returns when counts were last collected. Quotas refill from that time, so that each quota is full again no later
   * than its server's Retry-After.
   */
  #lastCollection(): number {
    const now = this.#options.clock();
    const last = Math.min(this.#collectedAt ?? now, now);
    this.#collectedAt = now;
    return last;
  }
}

export interface SharedQuotasOptions
  extends Pick<QuotaExchangeOptions, 'clock' | 'log' | 'intervalMilliseconds'> {
  readonly database: RelayDatabase;
  /** Maximum notifications per server and minute. */
  readonly notificationsPerMinute: number;
}

/** Opens the server quotas that all processes on the database share, and starts their exchange. */
export async function openSharedQuotas({
  database,
  notificationsPerMinute,
  ...options
}: SharedQuotasOptions): Promise<{ readonly quotas: ServerQuotas; readonly exchange: QuotaExchange }> {
  const quotas = new ServerQuotas(notificationsPerMinute, options.clock);
  const exchange = new QuotaExchange({ ...options, quotas, store: new UsedQuotaStore(database) });
  await exchange.start();
  return { quotas, exchange };
}
