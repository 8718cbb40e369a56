import type { TokenKind } from '@waxwing/protocol';
import { type Clock, type Closers, MinuteWriter } from '@waxwing/service/lifecycle';
import type { Log } from '@waxwing/service/logging';
import type { RelayDatabase } from '../../tables.js';
import { type DeliveryOutcome, indexOfCell, latencyBounds, minuteCells } from './minute-cells.js';
import { addMinutes, type MinuteAmounts, minuteOf, readMinutes } from './minute-store.js';

export interface MinuteCountsOptions {
  readonly database: RelayDatabase;
  readonly clock: Clock;
  readonly log: Log;
  /** Whether to count registrations and deliveries. */
  readonly isOn: boolean;
}

const stopMilliseconds = 1000;
const registeredCell = indexOf('', 'registered');
const latencyCells = latencyBounds.map((bound) => indexOf('', `within ${bound}`));
const deliveryCells = { fcm: cellsOf('fcm'), apns: cellsOf('apns'), webpush: cellsOf('webpush') };

/**
 * Counts registrations and deliveries per minute, for the dashboard. Counts in memory and writes once a minute, so no
 * request waits for the database. A process that is killed loses its last minute. The database contains the totals of
 * all processes.
 */
export class MinuteCounts {
  readonly #options: MinuteCountsOptions;
  readonly #writer: MinuteWriter;
  #minutes = new Map<number, number[]>();

  constructor(options: MinuteCountsOptions) {
    this.#options = options;
    this.#writer = new MinuteWriter({
      log: options.log,
      write: () => this.#write(),
      sentences: {
        failing: 'the figures of the dashboard cannot be recorded: the current figures are lost',
        recovered: 'the figures of the dashboard are recorded again',
      },
    });
  }

  noteRegistered(count: number): void {
    this.#add(registeredCell, count);
  }

  /** @param latencyMilliseconds from the arrival of the notification until the vendor accepts it. */
  noteDelivered(vendor: TokenKind, latencyMilliseconds: number): void {
    this.#add(deliveryCells[vendor].delivered, 1);
    const found = latencyBounds.findIndex((bound) => latencyMilliseconds <= bound);
    this.#add(latencyCells.at(found) ?? 0, 1);
  }

  /** @param outcome `gone` counts as rejected. */
  noteUndelivered(vendor: TokenKind, outcome: Exclude<DeliveryOutcome, 'delivered'> | 'gone'): void {
    this.#add(deliveryCells[vendor][outcome === 'gone' ? 'rejected' : outcome], 1);
  }

  /**
   * Reads the amounts for the minutes from `first` to `last`, inclusive: the stored amounts of all processes, plus the
   * amounts that this process has not stored yet.
   */
  async read(first: number, last: number): Promise<ReadonlyMap<number, MinuteAmounts>> {
    const minutes = await readMinutes(this.#options.database, first, last);
    for (const [minute, amounts] of this.#minutes) {
      if (minute < first || minute > last) continue;
      const stored = minutes.get(minute) ?? [];
      minutes.set(
        minute,
        amounts.map((amount, index) => amount + (stored[index] ?? 0)),
      );
    }
    return minutes;
  }

  start(): void {
    if (this.#options.isOn) this.#writer.start();
  }

  /** Stops counting and writes the last counts, waiting at most `deadlineMilliseconds`. */
  async stop(deadlineMilliseconds: number): Promise<void> {
    await this.#writer.stop(deadlineMilliseconds);
  }

  /**
   * Writes the counts since the last call. Never rejects: if a write fails, drops the counts and warns once per outage.
   */
  async flush(): Promise<void> {
    await this.#writer.flush();
  }

  async #write(): Promise<void> {
    const minutes = this.#minutes;
    this.#minutes = new Map();
    await addMinutes(this.#options.database, minutes);
  }

  #add(cell: number, amount: number): void {
    const { clock, isOn } = this.#options;
    if (!isOn) return;
    const minute = minuteOf(clock());
    let amounts = this.#minutes.get(minute);
    if (amounts === undefined) {
      amounts = minuteCells.map(() => 0);
      this.#minutes.set(minute, amounts);
    }
    amounts[cell] = (amounts[cell] ?? 0) + amount;
  }
}

/** Creates and starts the counts. Adds a function to `closers` that stops them. */
export function openMinuteCounts(options: MinuteCountsOptions, closers: Closers): MinuteCounts {
  const counts = new MinuteCounts(options);
  counts.start();
  closers.push(() => counts.stop(stopMilliseconds));
  return counts;
}

function cellsOf(vendor: TokenKind): Record<DeliveryOutcome, number> {
  return {
    delivered: indexOf(vendor, 'delivered'),
    rejected: indexOf(vendor, 'rejected'),
    retried: indexOf(vendor, 'retried'),
  };
}

function indexOf(vendor: string, outcome: string): number {
  const index = indexOfCell({ vendor, outcome });
  if (index === undefined) throw new Error(`there is no figure ${vendor} ${outcome}`);
  return index;
}
