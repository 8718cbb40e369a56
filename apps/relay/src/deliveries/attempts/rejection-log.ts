import type { DeliveryFault } from '@waxwing/protocol';
import type { Log } from '@waxwing/service/logging';

interface Rejection {
  readonly reason: string;
  readonly fault: DeliveryFault;
  /** Rejections since the last line. */
  count: number;
}

const intervalMilliseconds = 60_000;
// A vendor may invent reasons without bound.
const maximumKinds = 100;

/**
 * Logs rejected notifications: the first of each reason at once with its device, and further ones as one line with their
 * count per minute.
 */
export class RejectionLog {
  readonly #log: Log;
  readonly #rejections = new Map<string, Rejection>();
  #timer: NodeJS.Timeout | undefined;

  constructor(log: Log) {
    this.#log = log;
  }

  note(said: string, fault: DeliveryFault, device: number): void {
    const isFull = this.#rejections.size >= maximumKinds && !this.#rejections.has(`${fault} ${said}`);
    const reason = isFull ? 'other' : said;
    const known = this.#rejections.get(`${fault} ${reason}`);
    if (known !== undefined) {
      known.count += 1;
      return;
    }
    this.#rejections.set(`${fault} ${reason}`, { reason, fault, count: 0 });
    this.#log[levelOf(fault)]({ device, reason, fault }, 'a notification was rejected');
    this.#timer ??= setInterval(() => this.flush(), intervalMilliseconds).unref();
  }

  /** Logs the count of each reason since the last flush. A reason without rejections since then is logged at once again. */
  flush(): void {
    for (const [key, rejection] of this.#rejections) {
      const { reason, fault, count } = rejection;
      if (count === 0) this.#rejections.delete(key);
      else this.#log[levelOf(fault)]({ reason, fault, count }, 'more notifications were rejected');
      rejection.count = 0;
    }
    if (this.#rejections.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

function levelOf(fault: DeliveryFault): 'error' | 'info' {
  return fault === 'relay' || fault === 'relay-configuration' ? 'error' : 'info';
}
