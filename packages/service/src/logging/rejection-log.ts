import type { DeliveryFault } from '@waxwing/protocol';
import { CauseLog } from './cause-log.js';
import type { Log } from './create-logger.js';

/** The reason why a notification was rejected, and who is at fault. */
export interface Rejection {
  readonly reason: string;
  readonly fault: DeliveryFault;
  /** The bundle id of the app, if known. */
  readonly app?: string | undefined;
}

const rejected = {
  first: 'a notification was rejected',
  more: 'more notifications were rejected',
};

/**
 * Logs rejected notifications. The first rejection for each reason is logged immediately with its device. Further
 * rejections are logged as a count, in one line per minute. Faults for which `isError` is true are logged as errors.
 */
export class RejectionLog {
  readonly #causes: CauseLog<Rejection>;

  constructor(log: Log, isError: (fault: DeliveryFault) => boolean, words = rejected) {
    this.#causes = new CauseLog({
      log,
      words,
      levelOf: ({ fault }) => (isError(fault) ? 'error' : 'info'),
      other: ({ fault }) => ({ reason: 'other', fault }),
    });
  }

  /** Counts a rejection. Returns whether it was logged immediately. `device` identifies the device. */
  note({ reason, fault, app }: Rejection, device: unknown): boolean {
    return this.#causes.note({ reason, fault, app }, { device });
  }

  /**
   * Logs the count of each reason since the last flush. A reason that has not occurred since then will be logged
   * immediately the next time it occurs.
   */
  flush(): void {
    this.#causes.flush();
  }
}
