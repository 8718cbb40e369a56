import type { DeliveryFault } from '@waxwing/protocol';
import { CauseLog } from './cause-log.js';
import type { Log } from './create-logger.js';

/** Why a notification is not sent. */
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
 * Logs rejected notifications. The first rejection for each reason is logged at once with its device, and further
 * rejections as one line per minute with their count. Faults for which `isError` is true are logged as errors.
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
   * Logs the count of each reason since the last flush. A reason that did not occur since then is logged at once the
   * next time it occurs.
   */
  flush(): void {
    this.#causes.flush();
  }
}
