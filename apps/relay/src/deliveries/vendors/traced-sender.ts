import { inSpanOf } from '@waxwing/service/tracing';
import type { Delivery, Vendor } from '../delivery.js';
import type { SendOptions, VendorSender } from './vendor-sender.js';

/** Sender that records each request to the vendor in the notification's trace, if the notification is traced. */
export class TracedSender implements VendorSender {
  readonly #vendor: Vendor;
  readonly #sender: VendorSender;

  constructor(vendor: Vendor, sender: VendorSender) {
    this.#vendor = vendor;
    this.#sender = sender;
  }

  get renewableAt(): number {
    return this.#sender.renewableAt;
  }

  get hostStates(): VendorSender['hostStates'] {
    return this.#sender.hostStates;
  }

  send(delivery: Delivery, options: SendOptions): ReturnType<VendorSender['send']> {
    const { traceparent } = delivery.notification;
    const send = () => this.#sender.send(delivery, options);
    return traceparent === undefined
      ? send()
      : inSpanOf(traceparent, `${this.#vendor} send`, { kind: 'client' }, send);
  }

  refreshCredential(): Promise<void> {
    return this.#sender.refreshCredential();
  }

  close(deadlineMilliseconds: number): Promise<void> {
    return this.#sender.close(deadlineMilliseconds);
  }
}
