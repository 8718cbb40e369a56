import type { Clock } from '@waxwing/service/lifecycle';
import type { WriteTransaction } from '@waxwing/storage';
import { setApnsEnvironment } from '../../registrations/relay-device-store.js';
import type { RelayDatabase, RelayTables } from '../../tables.js';
import type { Attempt } from '../attempts/attempt-delivery.js';
import type { Notification } from '../delivery.js';
import type { SettledItem } from '../requests/deliver-notifications.js';
import { countTry, type DeliveryQueue, receiptOf } from './delivery-queue.js';
import { expireDevice } from './expire-device.js';
import type { LoadLimit } from './load-limit.js';
import { saveReceipts } from './receipt-store.js';

export interface RecordAttemptsOptions {
  readonly database: RelayDatabase;
  readonly queue: DeliveryQueue;
  readonly load: LoadLimit;
  readonly clock: Clock;
}

/** Makes what came of attempts durable: receipts, dead tokens, environments that worked, and what must be tried again. */
export class RecordAttempts {
  readonly #options: RecordAttemptsOptions;

  constructor(options: RecordAttemptsOptions) {
    this.#options = options;
  }

  /** The attempts as they stand in the end: a token that was registered again meanwhile is not gone. */
  async record(items: readonly SettledItem[]): Promise<Attempt[]> {
    const { database, load } = this.#options;
    const isNew = items.filter(({ isRepeat }) => !isRepeat);
    const toRecord = isNew.filter((item) => item.hasOwnId || leavesTrace(item.attempt));
    if (toRecord.length === 0) return items.map(({ attempt }) => attempt);
    const now = this.#options.clock();
    const changed = await database.write((transaction) => this.#write(transaction, toRecord, now));
    load.addQueued(toRecord.filter(({ attempt }) => attempt.kind === 'retry').length);
    return items.map((item) => changed.get(item) ?? item.attempt);
  }

  /** For an attempt that ended after its request was answered; `wasQueued` where a later try was stored by then. */
  async recordLate(notification: Notification, attempt: Attempt, wasQueued: boolean): Promise<void> {
    const { database, load, clock } = this.#options;
    const now = clock();
    if (attempt.kind === 'retry') {
      const receipt = { ...receiptOf(notification, attempt, countTry(attempt), now), notBefore: attempt.at };
      // The try that is stored already waits for that.
      if (wasQueued) await database.write(({ db }) => saveReceipts(db, [receipt]));
      return;
    }
    const item: SettledItem = { notification, attempt, hasOwnId: true, isRepeat: false };
    await database.write((transaction) => this.#write(transaction, [item], now));
    if (wasQueued) load.addQueued(-1);
  }

  async #write(
    transaction: WriteTransaction<RelayTables>,
    items: readonly SettledItem[],
    now: number,
  ): Promise<Map<SettledItem, Attempt>> {
    const changed = new Map<SettledItem, Attempt>();
    for (const item of items) {
      const { attempt, notification } = item;
      if (attempt.kind === 'gone') {
        changed.set(item, await expireDevice(transaction.db, notification.relayDeviceId, attempt, now));
      }
      if (attempt.kind === 'sent' && attempt.workedEnvironment !== undefined) {
        await setApnsEnvironment(transaction.db, notification.relayDeviceId, attempt.workedEnvironment);
      }
      if (attempt.kind === 'retry') await this.#options.queue.add(transaction, notification, attempt);
    }
    const receipts = items
      .filter(({ hasOwnId, attempt }) => hasOwnId || attempt.kind === 'retry')
      .map((item) => {
        const attempt = changed.get(item) ?? item.attempt;
        return receiptOf(item.notification, attempt, countTry(attempt), now);
      });
    await saveReceipts(transaction.db, receipts);
    return changed;
  }
}

function leavesTrace(attempt: Attempt): boolean {
  if (attempt.kind === 'gone') return attempt.ifRegisteredBefore !== undefined;
  if (attempt.kind === 'retry') return true;
  return attempt.kind === 'sent' && attempt.workedEnvironment !== undefined;
}
