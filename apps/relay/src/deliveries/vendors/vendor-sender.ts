import type { ApnsEnvironment } from '@waxwing/protocol';
import type { Delivery } from '../delivery.js';
import type { VendorAnswer } from './vendor-answer.js';

export interface SendOptions {
  /** Which of Apple's systems; without meaning for FCM. */
  readonly environment: ApnsEnvironment;
  readonly notAfter: number;
}

/** One way to a vendor with one credential. */
export interface VendorSender {
  /**
   * Sends once; what the vendor provably has not seen may be sent again on another connection. What has not left by
   * `notAfter` (Unix milliseconds) is not sent any more. Rejects only when no credential can be made.
   */
  send(delivery: Delivery, options: SendOptions): Promise<VendorAnswer>;
  /** Gets a credential newer than the one that was refused, where that is allowed. */
  refreshCredential(): Promise<void>;
  /** From when on a new credential may be made, in Unix milliseconds. */
  readonly renewableAt: number;
  /** Waits for what is under way, at most `deadlineMilliseconds`, then drops every connection. */
  close(deadlineMilliseconds: number): Promise<void>;
}
