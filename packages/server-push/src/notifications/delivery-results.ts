import type { DatabaseWithJobs } from '@waxwing/jobs';
import type { Clock } from '@waxwing/service/lifecycle';
import { type Log, RejectionLog } from '@waxwing/service/logging';
import type { Metrics } from '@waxwing/service/metrics';
import type { ServerPushTables } from '../tables.js';
import { explainResult } from './describe-results.js';
import type { DeviceResult } from './device-results.js';
import type { Recipient } from './recipient.js';

export interface DeliveryResultsOptions {
  readonly database: DatabaseWithJobs<ServerPushTables>;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

// Maximum number of label combinations. Bounded, because a relay could send any number of different reasons.
const maximumLabels = 100;

/**
 * Records the relay's result for each device: counts results, logs rejections, and stores the newest rejection for the
 * admin.
 */
export class DeliveryResults {
  readonly #options: DeliveryResultsOptions;
  readonly #counter;
  readonly #labels = new Set<string>();
  readonly #rejections: RejectionLog;
  readonly #held: RejectionLog;
  readonly #dropped: RejectionLog;

  constructor(options: DeliveryResultsOptions) {
    this.#options = options;
    // Faults that an admin or the relay's operator can fix are logged as errors. Dead and throttled phones are not.
    const isError = (fault: string) => fault !== 'vendor' && fault !== 'registration';
    this.#rejections = new RejectionLog(options.log, isError);
    this.#held = new RejectionLog(options.log, isError, {
      first: 'a notification is queued at the relay, which cannot deliver it now',
      more: 'more notifications are queued at the relay',
    });
    this.#dropped = new RejectionLog(options.log, isError, {
      first: 'dropped a device that the relay does not know',
      more: 'dropped more devices that the relay does not know',
    });
    this.#counter = options.metrics.counter(
      'waxwing_notification_results_total',
      "The relay's result for each device to notify, by status, fault and reason; a queued result counts again when it is final",
      ['status', 'fault', 'reason'],
    );
  }

  /** Records one result for each device in `rows`, in the same order. Never rejects. */
  async note(rows: readonly Recipient['row'][], results: readonly DeviceResult[]): Promise<void> {
    let newest: DeviceResult | undefined;
    for (const [index, result] of results.entries()) {
      this.#count(result);
      const { status, reason = '', fault, app } = result;
      if (fault === undefined) continue;
      const log = status === 'queued' ? this.#held : this.#rejections;
      if (log.note({ reason, fault, app }, rows[index])) newest = result;
    }
    if (newest !== undefined) await this.#store(newest);
  }

  /** Logs devices that were dropped because the relay does not know them. */
  noteDropped(rows: readonly Recipient['row'][]): void {
    for (const row of rows) this.#dropped.note({ reason: 'UNKNOWN_DEVICE', fault: 'registration' }, row);
  }

  /** Logs the counts that are not logged yet. */
  close(): void {
    this.#rejections.flush();
    this.#held.flush();
    this.#dropped.flush();
  }

  #count({ status, fault, reason = '' }: DeviceResult): void {
    const key = `${status} ${fault} ${reason}`;
    const isFull = this.#labels.size >= maximumLabels && !this.#labels.has(key);
    if (!isFull) this.#labels.add(key);
    this.#counter.inc({ status, fault: fault ?? '', reason: isFull ? 'other' : reason });
  }

  async #store(rejection: DeviceResult): Promise<void> {
    const { clock, database, log } = this.#options;
    const change = { last_rejection_at: clock(), last_rejection: explainResult(rejection) };
    try {
      await database.write(({ db }) =>
        db
          .insertInto('relay_link')
          .values({ id: 1, ...change })
          .onConflict((conflict) => conflict.column('id').doUpdateSet(change))
          .execute(),
      );
    } catch (err) {
      log.error({ err }, 'the newest rejection of a notification could not be stored');
    }
  }
}
