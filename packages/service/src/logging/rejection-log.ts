import type { DeliveryFault } from '@waxwing/protocol';
import type { Log } from './create-logger.js';

/** The reason why a notification is not sent. */
export interface Rejection {
  readonly reason: string;
  readonly fault: DeliveryFault;
  /** The app in question, if known. */
  readonly app?: string | undefined;
}

interface Noted extends Rejection {
  /** Rejections since the last line. */
  count: number;
}

/** The messages for the first line of a reason, and for lines with a count. */
interface RejectionWords {
  readonly first: string;
  readonly more: string;
}

const rejected: RejectionWords = {
  first: 'a notification was rejected',
  more: 'more notifications were rejected',
};
const intervalMilliseconds = 60_000;
// Limits the kinds, because a vendor may invent reasons without bound.
const maximumKinds = 100;

/**
 * Logs rejected notifications: the first of each reason at once with its device, and further ones as one line per
 * minute with their count. Logs faults for which `isError` is true as errors.
 */
export class RejectionLog {
  readonly #log: Log;
  readonly #isError: (fault: DeliveryFault) => boolean;
  readonly #words: RejectionWords;
  readonly #rejections = new Map<string, Noted>();
  #timer: NodeJS.Timeout | undefined;

  constructor(log: Log, isError: (fault: DeliveryFault) => boolean, words = rejected) {
    this.#log = log;
    this.#isError = isError;
    this.#words = words;
  }

  /** Returns whether the rejection was logged at once. `device` identifies the device. */
  note({ reason: said, fault, app }: Rejection, device: unknown): boolean {
    const exact: Rejection = { reason: said, fault, app };
    const isFull = this.#rejections.size >= maximumKinds && !this.#rejections.has(keyOf(exact));
    const rejection: Rejection = isFull ? { reason: 'other', fault } : exact;
    const key = keyOf(rejection);
    const known = this.#rejections.get(key);
    if (known !== undefined) {
      known.count += 1;
      return false;
    }
    this.#rejections.set(key, { ...rejection, count: 0 });
    this.#log[this.#levelOf(fault)]({ device, ...rejection }, this.#words.first);
    this.#timer ??= setInterval(() => this.flush(), intervalMilliseconds).unref();
    return true;
  }

  /**
   * Logs the count of each reason since the last flush. A reason without rejections since then is logged at once the
   * next time.
   */
  flush(): void {
    for (const [key, noted] of this.#rejections) {
      const { count, ...rejection } = noted;
      if (count === 0) this.#rejections.delete(key);
      else this.#log[this.#levelOf(rejection.fault)]({ ...rejection, count }, this.#words.more);
      noted.count = 0;
    }
    if (this.#rejections.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #levelOf(fault: DeliveryFault): 'error' | 'info' {
    return this.#isError(fault) ? 'error' : 'info';
  }
}

function keyOf({ reason, fault, app = '' }: Rejection): string {
  return `${fault} ${reason} ${app}`;
}
