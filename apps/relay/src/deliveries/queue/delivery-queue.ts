import type { Job, JobHandler, JobOutcome, JobQueue } from '@waxwing/jobs';
import type { Clock } from '@waxwing/service/lifecycle';
import { isReadable, type StoredRelayDevice } from '../../registrations/relay-device.js';
import { findRelayDevices, setApnsEnvironment } from '../../registrations/relay-device-store.js';
import type { TokenVault } from '../../registrations/token-vault.js';
import type { RelayDatabase, RelayTables, RelayTransaction } from '../../tables.js';
import type { Attempt, AttemptOptions, DeliveryAttempts } from '../attempts/attempt-delivery.js';
import { keptUntil, type Notification } from '../delivery.js';
import { isOfKind } from '../match-kind.js';
import { expireDevice } from './expire-device.js';
import { type Receipt, type ReceiptStore, saveReceipts } from './receipt-store.js';
import { decodeNotification, encodeNotification } from './stored-notification.js';

export interface DeliveryQueueOptions {
  readonly database: RelayDatabase;
  readonly tokenVault: TokenVault;
  readonly receipts: ReceiptStore;
  readonly attempts: DeliveryAttempts;
  readonly clock: Clock;
  /** Told when a queued notification is settled. */
  onSettled(): void;
}

const jobKind = 'deliver-notification';
const concurrency = 500;
const patienceMilliseconds = 60_000;
const givenUp = 'EXPIRED_';

/** Notifications that wait in the database for another try, until they are settled or no longer worth it. */
export class DeliveryQueue {
  readonly #options: DeliveryQueueOptions;
  readonly #jobs: JobQueue<RelayTables>;

  constructor(options: DeliveryQueueOptions) {
    this.#options = options;
    this.#jobs = options.database.jobs;
    const handler: JobHandler<RelayTables> = {
      concurrency,
      run: (job) => this.#run(job),
      giveUp: (job, reason) => (transaction) => this.#giveUp(transaction, job, reason),
    };
    this.#jobs.handle(jobKind, handler);
  }

  /** Stores a notification for another try, within the caller's transaction. */
  async add(
    transaction: RelayTransaction,
    notification: Notification,
    { at: runAt, reason }: Extract<Attempt, { kind: 'retry' }>,
  ): Promise<void> {
    const payload = encodeNotification(notification);
    const giveUpAt = keptUntil(notification);
    await this.#jobs.enqueue(transaction, { kind: jobKind, payload, runAt, giveUpAt, reason });
  }

  async #run(job: Job): Promise<JobOutcome<RelayTables>> {
    const { receipts, clock } = this.#options;
    const notification = decodeNotification(job.payload);
    const receipt = await receipts.findOne(notification);
    if (hasEnded(receipt)) return { kind: 'done' };
    if (receipt?.notBefore !== undefined && receipt.notBefore > clock()) {
      return this.#postpone(receipt, receipt.notBefore);
    }
    const triesBefore = receipt?.attempts ?? 0;
    const doubtsBefore = receipt?.doubts ?? 0;
    const attempt = await this.#attempt(notification, { triesBefore, doubtsBefore });
    const { attempts: more, doubts } = countTry(attempt);
    const counts = { attempts: triesBefore + more, doubts: doubtsBefore + doubts };
    const apply = (transaction: RelayTransaction) => this.#apply(transaction, notification, attempt, counts);
    if (attempt.kind === 'retry') return { kind: 'retry', at: attempt.at, reason: attempt.reason, apply };
    return { kind: 'done', apply };
  }

  async #attempt(
    notification: Notification,
    before: Pick<AttemptOptions, 'triesBefore' | 'doubtsBefore'>,
  ): Promise<Attempt> {
    const { clock, attempts } = this.#options;
    const device = await this.#findDevice(notification);
    if (device === undefined) return { kind: 'gone', reason: 'UNKNOWN_DEVICE', ifRegisteredBefore: 0 };
    if (!isReadable(device)) return attempts.holdUnreadable(device);
    const notAfter = clock() + patienceMilliseconds;
    return attempts.attempt({ notification, device }, { ...before, hasWaited: true, notAfter });
  }

  /** Its first try ended after it had been stored, and its vendor wants a longer rest than it was stored for. */
  #postpone(receipt: Receipt, at: number): JobOutcome<RelayTables> {
    const { reason = 'UNDER_WAY' } = receipt;
    const apply = (transaction: RelayTransaction) =>
      saveReceipts(transaction.db, [{ ...receipt, notBefore: undefined }]);
    return { kind: 'retry', at, reason, apply };
  }

  /** `undefined` where there is none, or none that can be reached with it. */
  async #findDevice(notification: Notification): Promise<StoredRelayDevice | undefined> {
    const { database, tokenVault: vault } = this.#options;
    const { realmId, relayDeviceId } = notification;
    const devices = await findRelayDevices(database.db, { realmId, ids: [relayDeviceId], vault });
    const device = devices.get(relayDeviceId);
    if (device === undefined || device.expiredAt !== undefined) return undefined;
    return isReadable(device) && !isOfKind(device, notification) ? undefined : device;
  }

  async #apply(
    transaction: RelayTransaction,
    notification: Notification,
    attempt: Attempt,
    counts: TryCounts,
  ): Promise<void> {
    const { db } = transaction;
    const now = this.#options.clock();
    const isSettled = attempt.kind !== 'retry';
    const ending =
      attempt.kind === 'gone' ? await expireDevice(db, notification.relayDeviceId, attempt, now) : attempt;
    if (attempt.kind === 'sent' && attempt.workedEnvironment !== undefined) {
      await setApnsEnvironment(db, notification.relayDeviceId, attempt.workedEnvironment);
    }
    await saveReceipts(db, [receiptOf(notification, ending, counts, now)]);
    if (isSettled) transaction.afterCommit(() => this.#options.onSettled());
  }

  async #giveUp(transaction: RelayTransaction, job: Job, reason: string): Promise<void> {
    const notification = decodeNotification(job.payload);
    const receipt = await this.#options.receipts.findOne(notification);
    if (hasEnded(receipt)) return;
    const attempt: Attempt = { kind: 'rejected', reason: `${givenUp}${reason}`, fault: 'vendor' };
    const { attempts = 0, doubts = 0 } = receipt ?? {};
    await this.#apply(transaction, notification, attempt, { attempts, doubts });
  }
}

/** Whether it ended well after its request had been answered. What was given up has not: somebody brought it back. */
function hasEnded(receipt: Receipt | undefined): boolean {
  return receipt !== undefined && receipt.status !== 'queued' && receipt.reason?.startsWith(givenUp) !== true;
}

type TryCounts = Pick<Receipt, 'attempts' | 'doubts'>;

/** What one attempt adds to a receipt's counts: one that was only held back is no try. */
export function countTry(attempt: Attempt): { attempts: number; doubts: number } {
  if (attempt.kind !== 'retry') return { attempts: 1, doubts: 0 };
  return { attempts: attempt.isTry ? 1 : 0, doubts: attempt.isInDoubt === true ? 1 : 0 };
}

/** What is remembered of an attempt. */
export function receiptOf(
  { serverId, notificationId, relayDeviceId }: Notification,
  attempt: Attempt,
  counts: TryCounts,
  updatedAt: number,
): Receipt {
  return {
    serverId,
    notificationId,
    relayDeviceId,
    status: attempt.kind === 'retry' ? 'queued' : attempt.kind,
    reason: attempt.kind === 'sent' ? undefined : attempt.reason,
    fault: attempt.kind === 'rejected' ? attempt.fault : undefined,
    ...counts,
    updatedAt,
  };
}
