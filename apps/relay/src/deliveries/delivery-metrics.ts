import { tokenKinds } from '@waxwing/protocol';
import type { Metrics } from '@waxwing/service/metrics';
import type { Vendor } from './delivery.js';
import { reasonLabel } from './policy/judge-answer.js';
import type { PushServiceCounts, VendorAnswer } from './vendors/vendor-sender.js';

/** Delivery counts per minute, for the dashboard. */
export interface DeliveryCounts {
  noteDelivered(vendor: Vendor, latencyMilliseconds: number): void;
  noteUndelivered(vendor: Vendor, outcome: 'rejected' | 'gone' | 'retried'): void;
}

/** Delivery metrics. Label values come from fixed sets, except the ids of apps whose credential or vendor fails. */
export class DeliveryMetrics {
  readonly #deliveries;
  /**
   * Notifications sent since the last scrape. Plain numbers are cheaper to increment than the metrics library's
   * counter.
   */
  readonly #sent: Record<Vendor, number> = { fcm: 0, apns: 0, webpush: 0 };
  readonly #seconds;
  readonly #queued;
  readonly #inFlight;
  readonly #breakers;
  readonly #outages;

  readonly #counts: DeliveryCounts | undefined;
  readonly #metrics: Metrics;

  constructor(metrics: Metrics, counts?: DeliveryCounts) {
    this.#counts = counts;
    this.#metrics = metrics;
    this.#deliveries = metrics.counter(
      'waxwing_deliveries_total',
      "Attempts to deliver a notification, by vendor, outcome and the vendor's reason",
      ['vendor', 'outcome', 'reason'],
      () => this.#countSent(),
    );
    this.#seconds = metrics.secondsHistogram(
      'waxwing_delivery_seconds',
      "Time from a server's request to the vendor's acceptance of the notification, retries included, by vendor",
      ['vendor'],
      [0.01, 0.03, 0.1, 0.3, 1, 3, 10, 60, 600, 3600, 86_400],
    );
    this.#queued = metrics.gauge('waxwing_deliveries_queued', 'Notifications stored for a later attempt');
    this.#inFlight = metrics.gauge('waxwing_deliveries_in_flight', 'Notifications in memory');
    this.#breakers = metrics.gauge(
      'waxwing_app_breaker_open',
      'Open circuit breakers by app and kind: 1 for a refused credential, or the number of scopes with frozen deletions',
      ['app', 'kind'],
    );
    this.#outages = metrics.gauge(
      'waxwing_app_outage',
      '1 for each app whose vendor has accepted no notification for a minute',
      ['app'],
    );
  }

  /** @param milliseconds since the relay received the notification. */
  countSent(vendor: Vendor, milliseconds: number): void {
    this.#sent[vendor] += 1;
    this.#seconds.observe({ vendor }, Math.max(0, milliseconds) / 1000);
    this.#counts?.noteDelivered(vendor, milliseconds);
  }

  #countSent(): void {
    for (const vendor of tokenKinds) {
      this.#deliveries.inc({ vendor, outcome: 'sent', reason: '' }, this.#sent[vendor]);
      this.#sent[vendor] = 0;
    }
  }

  count(vendor: Vendor, outcome: string, answer: VendorAnswer): void {
    this.#deliveries.inc({ vendor, outcome, reason: reasonLabel(vendor, answer) });
    const isFinal = outcome === 'rejected' || outcome === 'gone';
    this.#counts?.noteUndelivered(vendor, isFinal ? outcome : 'retried');
  }

  /** Counts a notification that the relay rejected without sending it. `reason` is the relay's reason. */
  countUnsent(vendor: Vendor, reason: string): void {
    this.#deliveries.inc({ vendor, outcome: 'rejected', reason });
    this.#counts?.noteUndelivered(vendor, 'rejected');
  }

  setOutage(app: string, isFailing: boolean): void {
    if (isFailing) this.#outages.set({ app }, 1);
    else this.#outages.remove({ app });
  }

  /** Counts push services at each scrape. No label names a host, because phones choose the hosts. */
  watchPushServices(count: () => PushServiceCounts): void {
    const gauge = this.#metrics.gauge(
      'waxwing_push_services',
      'Web Push services by state: answering, held_back because they stopped answering, or unproven',
      ['state'],
    );
    this.#metrics.beforeScrape(async () => {
      for (const [state, value] of Object.entries(count())) gauge.set({ state }, value);
    });
  }

  setQueued(count: number): void {
    this.#queued.set(count);
  }

  setInFlight(count: number): void {
    this.#inFlight.set(count);
  }

  /** Sets how many breakers of an app are open. Zero removes the app from the metric. */
  setBreaker(app: string, kind: 'credential' | 'deletion', open: number): void {
    if (open > 0) this.#breakers.set({ app, kind }, open);
    else this.#breakers.remove({ app, kind });
  }
}
