import type { EncryptedNotification } from '../delivery.js';
import type { Outcome } from '../policy/judge-answer.js';
import type { FirstOutcome } from '../queue/record-outcomes.js';

export const unknownDevice: Outcome = { kind: 'gone', reason: 'UNKNOWN_DEVICE' };

/** One push request in progress. A class rather than a type, so that all objects have the same shape from the start. */
export class DeliveryItem implements FirstOutcome {
  readonly notification: EncryptedNotification;
  readonly hasOwnId: boolean;
  /** Whether another request or an earlier item delivers this notification. Nothing is recorded for a repeat. */
  isRepeat = false;
  /** The earlier item of the same request that has the same key. */
  sameAs: DeliveryItem | undefined = undefined;
  /** The claim of another request that already delivers this notification. */
  follows: DeliveryClaim | undefined = undefined;
  /** Resolves when `ended` is set; `undefined` if it was set synchronously. Never rejects. */
  trying: Promise<void> | undefined = undefined;
  /** Outcome of the attempt; `undefined` while in flight. */
  ended: Outcome | undefined = undefined;
  /** Outcome to report to the server. Durable before the relay responds. */
  outcome: Outcome = unknownDevice;

  constructor(notification: EncryptedNotification, hasOwnId: boolean) {
    this.notification = notification;
    this.hasOwnId = hasOwnId;
  }
}

/** A notification with an id, which another request in this process delivers. */
export interface DeliveryClaim {
  readonly item: DeliveryItem;
  /** Settles when the request's outcomes are durable; rejects if storing them failed. */
  readonly stored: Promise<unknown>;
}
