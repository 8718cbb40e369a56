import { type Log, TroubleLog } from '@waxwing/service/logging';
import { DatabaseUnavailableError } from '@waxwing/storage';
import type { StoredOutages } from './attempts/stored-outages.js';
import type { VendorOutages } from './attempts/vendor-outages.js';
import type { DeletionBreakers } from './breakers/deletion-breakers.js';
import type { LoadLimit } from './queue/load-limit.js';
import type { ReceiptStore } from './queue/receipt-store.js';

export interface DeliveryUpkeepOptions {
  readonly receipts: Pick<ReceiptStore, 'countQueued'>;
  readonly load: Pick<LoadLimit, 'setQueued'>;
  readonly deletions: Pick<DeletionBreakers, 'takeUpChanges' | 'review'>;
  readonly outages: Pick<VendorOutages, 'review'>;
  readonly storedOutages: Pick<StoredOutages, 'renew'>;
  readonly log: Log;
}

/** Periodic work of the delivery pipeline. Logs the first of several failures, and the next success. */
export class DeliveryUpkeep {
  readonly #options: DeliveryUpkeepOptions;
  readonly #countingLog = new TroubleLog();
  readonly #reviewLog = new TroubleLog();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: DeliveryUpkeepOptions) {
    this.#options = options;
  }

  start(intervalMilliseconds: number): void {
    const { outages, storedOutages } = this.#options;
    this.#timer = setInterval(() => {
      void this.#countQueued();
      outages.review();
      void storedOutages.renew();
      void this.#reviewDeletions();
    }, intervalMilliseconds).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Recounts the queue in the database, because this process's own count misses changes by other processes. */
  async #countQueued(): Promise<void> {
    const { receipts, load, log } = this.#options;
    try {
      load.setQueued(await receipts.countQueued());
      this.#countingLog.end(() => log.info('the queue can be counted again'));
    } catch (err) {
      this.#countingLog.begin('count', () =>
        log[levelOf(err)]({ err }, 'the queue could not be counted: its last known length is used'),
      );
    }
  }

  /** Thaws deletions and loads operators' confirmations, even if no vendor reports further dead tokens. */
  async #reviewDeletions(): Promise<void> {
    const { deletions, log } = this.#options;
    try {
      await deletions.takeUpChanges();
      await deletions.review();
      this.#reviewLog.end(() => log.info('frozen deletions can be reviewed again'));
    } catch (err) {
      this.#reviewLog.begin('review', () =>
        log[levelOf(err)](
          { err },
          'frozen deletions could not be reviewed; they stay frozen until they can be',
        ),
      );
    }
  }
}

/** Returns a lower log level for an unavailable database, because that is logged as an error elsewhere. */
function levelOf(error: unknown): 'info' | 'warn' {
  return error instanceof DatabaseUnavailableError ? 'info' : 'warn';
}
