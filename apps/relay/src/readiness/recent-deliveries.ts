import type { Clock } from '@waxwing/service/lifecycle';
import type { Vendor } from '../deliveries/delivery.js';
import type { DeliveryCounts } from '../deliveries/delivery-metrics.js';

interface Tally {
  readonly delivered: number;
  /** Deliveries that took more than ten seconds. */
  readonly slow: number;
  readonly rejected: number;
}

const keptMinutes = 10;
const slowMilliseconds = 10_000;
const none: Tally = { delivered: 0, slow: 0, rejected: 0 };

/** Counts this process's deliveries in the last ten minutes by vendor, in memory. Forwards each delivery to `next`. */
export class RecentDeliveries implements DeliveryCounts {
  readonly #clock: Clock;
  readonly #next: DeliveryCounts;
  readonly #minutes: Record<Vendor, Map<number, Tally>> = {
    fcm: new Map(),
    apns: new Map(),
    webpush: new Map(),
  };

  constructor(clock: Clock, next: DeliveryCounts) {
    this.#clock = clock;
    this.#next = next;
  }

  noteDelivered(vendor: Vendor, latencyMilliseconds: number): void {
    this.#next.noteDelivered(vendor, latencyMilliseconds);
    this.#add(vendor, { ...none, delivered: 1, slow: latencyMilliseconds > slowMilliseconds ? 1 : 0 });
  }

  noteUndelivered(vendor: Vendor, outcome: 'rejected' | 'gone' | 'retried'): void {
    this.#next.noteUndelivered(vendor, outcome);
    if (outcome === 'rejected') this.#add(vendor, { ...none, rejected: 1 });
  }

  /** Returns a vendor's counts, summed over the last ten minutes. */
  of(vendor: Vendor): Tally {
    const first = this.#minute() - keptMinutes;
    return [...this.#minutes[vendor]].filter(([minute]) => minute > first).reduce(addEntry, none);
  }

  #add(vendor: Vendor, tally: Tally): void {
    const minute = this.#minute();
    const minutes = this.#minutes[vendor];
    const known = minutes.get(minute);
    minutes.set(minute, add(known ?? none, tally));
    if (known !== undefined) return;
    for (const other of minutes.keys()) if (Math.abs(minute - other) >= keptMinutes) minutes.delete(other);
  }

  #minute(): number {
    return Math.floor(this.#clock() / 60_000);
  }
}

function addEntry(sum: Tally, [, tally]: readonly [number, Tally]): Tally {
  return add(sum, tally);
}

function add(one: Tally, other: Tally): Tally {
  return {
    delivered: one.delivered + other.delivered,
    slow: one.slow + other.slow,
    rejected: one.rejected + other.rejected,
  };
}
