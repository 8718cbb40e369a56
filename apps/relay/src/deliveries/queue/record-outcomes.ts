import type { Clock } from '@waxwing/service/lifecycle';
import type { WriteTransaction } from '@waxwing/storage';
import type { RelayDatabase, RelayTables } from '../../tables.js';
import type { EncryptedNotification } from '../delivery.js';
import type { Outcome } from '../policy/judge-answer.js';
import { applyOutcome } from './apply-outcome.js';
import type { DeliveryQueue } from './delivery-queue.js';
import type { LoadLimit } from './load-limit.js';
import { countTry, type Receipt, receiptOf, saveReceipts } from './receipt-store.js';

export interface RecordOutcomesOptions {
  readonly database: RelayDatabase;
  readonly queue: DeliveryQueue;
  readonly load: LoadLimit;
  readonly clock: Clock;
}

/** A notification and the outcome of its first attempt, or the reason why there was no attempt. */
export interface FirstOutcome {
  readonly notification: EncryptedNotification;
  readonly outcome: Outcome;
  /** Whether the server chose the notification's id, and so can query the receipt. */
  readonly hasOwnId: boolean;
  /** Whether another request records this outcome. */
  readonly isRepeat: boolean;
}

/**
 * Stores the effects of outcomes: receipts, dead tokens, the APNs environment that accepted a token, and retries.
 */
export class RecordOutcomes {
  readonly #options: RecordOutcomesOptions;

  constructor(options: RecordOutcomesOptions) {
    this.#options = options;
  }

  /**
   * Records outcomes in one transaction; the caller filters them with {@link mustBeRecorded}. Returns the final
   * outcomes in the same order. An outcome is not `gone` if the phone has registered its token again.
   */
  async record(items: readonly FirstOutcome[]): Promise<Outcome[]> {
    const { database, load } = this.#options;
    const now = this.#options.clock();
    const status = await database.write((transaction) => this.#write(transaction, items, now));
    load.addQueued(items.filter(({ outcome }) => outcome.kind === 'retry').length);
    return status;
  }

  /** Records an outcome that arrived after the response to the server. `wasQueued` says whether a retry was stored. */
  async recordLate(notification: EncryptedNotification, outcome: Outcome, wasQueued: boolean): Promise<void> {
    const { database, load, clock } = this.#options;
    const now = clock();
    if (outcome.kind === 'retry') {
      const receipt = { ...receiptOf(notification, outcome, countTry(outcome), now), notBefore: outcome.at };
      // A retry is already stored. `notBefore` in the receipt delays it for as long as this outcome requires.
      if (wasQueued) await database.write(({ db }) => saveReceipts(db, [receipt]));
      return;
    }
    const item: FirstOutcome = { notification, outcome, hasOwnId: true, isRepeat: false };
    await database.write((transaction) => this.#write(transaction, [item], now));
    if (wasQueued) load.addQueued(-1);
  }

  async #write(
    transaction: WriteTransaction<RelayTables>,
    items: readonly FirstOutcome[],
    now: number,
  ): Promise<Outcome[]> {
    const status: Outcome[] = [];
    const receipts: Receipt[] = [];
    for (const item of items) {
      const { notification, hasOwnId } = item;
      const outcome = await applyOutcome(transaction.db, notification, item.outcome, now);
      status.push(outcome);
      if (outcome.kind === 'retry') await this.#options.queue.add(transaction, notification, outcome);
      if (hasOwnId || outcome.kind === 'retry') {
        receipts.push(receiptOf(notification, outcome, countTry(outcome), now));
      }
    }
    await saveReceipts(transaction.db, receipts);
    return status;
  }
}

/** Whether the outcome must be stored. */
export function mustBeRecorded({ hasOwnId, isRepeat, outcome }: FirstOutcome): boolean {
  return !isRepeat && (hasOwnId || leavesTrace(outcome));
}

function leavesTrace(outcome: Outcome): boolean {
  if (outcome.kind === 'gone') return outcome.ifRegisteredBefore !== undefined;
  if (outcome.kind === 'retry') return true;
  return outcome.kind === 'sent' && outcome.workedEnvironment !== undefined;
}
