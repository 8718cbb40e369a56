import type { DeliveryFault } from '@waxwing/protocol';
import { CauseLog } from './cause-log.js';
import type { Log } from './create-logger.js';

/** The reason why a notification is not sent. */
export interface Rejection {
  readonly reason: string;
  readonly fault: DeliveryFault;
  /** The app in question, if known. */
  readonly app?: string | undefined;
}

const rejected = {
  first: 'a notification was rejected',
  more: 'more notifications were rejected',
};

/**
 * Logs rejected notifications: the first of each reason at once with its device, and further ones as one line per
 * minute with their count. Logs faults for which `isError` is true as errors.
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

  /** Returns whether the rejection was logged at once. `device` identifies the device. */
  note({ reason, fault, app }: Rejection, device: unknown): boolean {
    return this.#causes.note({ reason, fault, app }, { device });
  }

  /**
   * Logs the count of each reason since the last flush. A reason without rejections since then is logged at once the
   * next time.
   */
  flush(): void {
    this.#causes.flush();
  }
}
