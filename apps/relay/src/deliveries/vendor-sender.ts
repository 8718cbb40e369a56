import type { ApnsEnvironment } from '@waxwing/protocol';
import type { Delivery } from './delivery.js';
import type { VendorAnswer } from './vendor-answer.js';

/** One way to a vendor with one credential. */
export interface VendorSender {
  /** Sends once. What the vendor provably has not seen may have been sent again on another connection. */
  send(delivery: Delivery, environment: ApnsEnvironment): Promise<VendorAnswer>;
  /** Gets a credential newer than the one that was refused, where that is allowed. */
  refreshCredential(): Promise<void>;
  /** Waits for what is under way, at most `deadlineMilliseconds`, then drops every connection. */
  close(deadlineMilliseconds: number): Promise<void>;
}
