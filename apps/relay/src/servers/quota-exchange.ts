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
  /** How often to tell and to read; what is taken meanwhile, other processes learn late. */
  readonly intervalMilliseconds: number;
}

/**
 * Has one quota hold for all processes on a database: each tells what it took and reads what all of them took, once in
 * an interval, so that a request waits for nothing. What is taken too much meanwhile is missing afterwards. While the
 * database is away each process counts alone, and what it took by then is never told: it may have arrived already.
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

  /** Resolves once it is known here what others took before; goes on from then until {@link stop}. */
  async start(): Promise<void> {
    await this.exchange();
    this.#timer = setInterval(() => void this.exchange(), this.#options.intervalMilliseconds).unref();
  }

  /** Tells and reads once; calls at the same time share one. Never rejects: the log says once what is wrong. */
  exchange(): Promise<void> {
    this.#running ??= this.#exchange().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  /** Tells what was taken last, and waits at most `deadlineMilliseconds` for that. */
  async stop(deadlineMilliseconds: number): Promise<void> {
    clearInterval(this.#timer);
    await answerWithin(deadlineMilliseconds, this.#tellTheLast(), undefined);
  }

  async #tellTheLast(): Promise<void> {
    // What is under way was collected before the last requests were answered.
    await this.#running;
    await this.exchange();
  }

  async #exchange(): Promise<void> {
    const { quotas, store, clock, log } = this.#options;
    try {
      await store.add(quotas.collect(), this.#lastCollection());
      const readAt = clock();
      // The answer may be as late as the database is busy, and quotas fill up meanwhile.
      quotas.adopt(await store.read(readAt), readAt);
      this.#troubleLog.end(() => log.info("servers' quotas are shared with the other relays again"));
    } catch (err) {
      this.#troubleLog.begin('away', () => {
        log.warn(
          { err },
          "servers' quotas cannot be shared: each relay counts alone until the database answers",
        );
      });
    }
  }

  /** When counts were last collected: quotas fill up from then on, so that none is full later than its server was told. */
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
  /** Most notifications that one server may send in a minute. */
  readonly notificationsPerMinute: number;
}

/** The quotas of all servers, which every process on the database keeps to. */
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
