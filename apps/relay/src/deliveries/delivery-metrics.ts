import type { Metrics } from '@waxwing/service';
import type { Vendor } from './delivery.js';
import { reasonLabel } from './policy/find-policy.js';
import type { VendorAnswer } from './vendor-answer.js';

/** What deliveries count; labels come from closed lists, but for apps whose breaker is open. */
export class DeliveryMetrics {
  readonly #deliveries;
  readonly #sent;
  readonly #queued;
  readonly #inFlight;
  readonly #breakers;

  constructor(metrics: Metrics) {
    this.#deliveries = metrics.counter(
      'waxwing_deliveries_total',
      'Attempts to deliver a notification, by vendor, outcome and the reason that the vendor gave',
      ['vendor', 'outcome', 'reason'],
    );
    // Looked up once: the way to a counter by its labels costs more than counting.
    this.#sent = {
      fcm: this.#deliveries.labels('fcm', 'sent', ''),
      apns: this.#deliveries.labels('apns', 'sent', ''),
    };
    this.#queued = metrics.gauge('waxwing_deliveries_queued', 'Notifications stored for a later attempt');
    this.#inFlight = metrics.gauge('waxwing_deliveries_in_flight', 'Notifications held in memory');
    this.#breakers = metrics.gauge(
      'waxwing_app_breaker_open',
      'Apps whose credential is refused or whose deletions are frozen (1)',
      ['app', 'kind'],
    );
  }

  countSent(vendor: Vendor): void {
    this.#sent[vendor].inc();
  }

  count(vendor: Vendor, outcome: string, answer: VendorAnswer): void {
    this.#deliveries.inc({ vendor, outcome, reason: reasonLabel(vendor, answer) });
  }

  /** A notification that never left; `reason` is one of ours. */
  countUnsent(vendor: Vendor, reason: string): void {
    this.#deliveries.inc({ vendor, outcome: 'rejected', reason });
  }

  setQueued(count: number): void {
    this.#queued.set(count);
  }

  setInFlight(count: number): void {
    this.#inFlight.set(count);
  }

  setBreaker(app: string, kind: 'credential' | 'deletion', isOpen: boolean): void {
    if (isOpen) this.#breakers.set({ app, kind }, 1);
    else this.#breakers.remove({ app, kind });
  }
}
