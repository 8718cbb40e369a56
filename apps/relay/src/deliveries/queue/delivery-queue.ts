import type { Job, JobHandler, JobOutcome, JobQueue } from '@waxwing/jobs';
import { parseJson, stringifyJson } from '@waxwing/protocol';
import type { Clock } from '@waxwing/service/lifecycle';
import { hasEndedKey } from '../../registrations/store/ended-keys.js';
import { hasReadableToken, type StoredRelayDevice } from '../../registrations/store/relay-device.js';
import { findRelayDevices } from '../../registrations/store/relay-device-store.js';
import type { TokenVault } from '../../registrations/store/token-vault.js';
import type { ServerActivity } from '../../servers/server-activity.js';
import type { ServerDirectory } from '../../servers/server-directory.js';
import type { RelayDatabase, RelayTables, RelayTransaction } from '../../tables.js';
import type { AttemptOptions, DeliveryAttempts } from '../attempts/attempt-delivery.js';
import { type EncryptedNotification, isOfKind, keptUntil } from '../delivery.js';
import type { Outcome, RetryOutcome } from '../policy/judge-answer.js';
import { applyOutcome } from './apply-outcome.js';
import {
  countTry,
  type Receipt,
  type ReceiptStore,
  receiptOf,
  saveReceipts,
  type TryCounts,
} from './receipt-store.js';

export interface DeliveryQueueOptions {
  readonly database: RelayDatabase;
  readonly tokenVault: TokenVault;
  readonly receipts: ReceiptStore;
  readonly attempts: DeliveryAttempts;
  readonly servers: Pick<ServerDirectory, 'isActive'>;
  readonly activity: Pick<ServerActivity, 'noteOutcome'>;
  readonly clock: Clock;
  /** Called when a queued notification has a final outcome. */
  onSettled(): void;
}

/** Job kind of queued notifications. */
export const deliveryJobKind = 'deliver-notification';
const concurrency = 500;
const patienceMilliseconds = 60_000;
const givenUp = 'EXPIRED_';

/** Durable retry queue. Notifications stay in the database until they settle or expire. */
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
    this.#jobs.handle(deliveryJobKind, handler);
  }

  /** Enqueues a notification for a retry, in the caller's transaction. */
  async add(
    transaction: RelayTransaction,
    notification: EncryptedNotification,
    { at: runAt, reason }: RetryOutcome,
  ): Promise<void> {
    const payload = encodeNotification(notification);
    const giveUpAt = keptUntil(notification);
    await this.#jobs.enqueue(transaction, { kind: deliveryJobKind, payload, runAt, giveUpAt, reason });
  }

  async #run(job: Job): Promise<JobOutcome<RelayTables>> {
    const { receipts, clock } = this.#options;
    const notification = decodeNotification(job.payload);
    const receipt = await receipts.findOne(notification);
    if (hasEnded(receipt)) return { kind: 'done' };
    if (receipt?.notBefore !== undefined && receipt.notBefore > clock()) {
      return this.#postpone(receipt, receipt.notBefore);
    }
    const { attempts: triesBefore = 0, doubts: doubtsBefore = 0 } = receipt ?? {};
    const outcome = await this.#attempt(notification, { triesBefore, doubtsBefore });
    const counts = countTry(outcome, receipt);
    const apply = (transaction: RelayTransaction) => this.#apply(transaction, notification, outcome, counts);
    if (outcome.kind === 'retry') return { kind: 'retry', at: outcome.at, reason: outcome.reason, apply };
    return { kind: 'done', apply };
  }

  async #attempt(
    notification: EncryptedNotification,
    before: Pick<AttemptOptions, 'triesBefore' | 'doubtsBefore'>,
  ): Promise<Outcome> {
    const { clock, attempts, database, servers } = this.#options;
    // Checked before each attempt, because an operator may have suspended the server since the last one.
    if (!(await servers.isActive(notification.serverId))) {
      return attempts.refuse(notification, 'SERVER_DEACTIVATED');
    }
    if (await hasEndedKey(database.db, notification)) {
      return attempts.refuse(notification, 'PUSH_KEY_ENDED');
    }
    const device = await this.#findDevice(notification);
    if (device === undefined) return { kind: 'gone', reason: 'UNKNOWN_DEVICE', ifRegisteredBefore: 0 };
    if (!hasReadableToken(device)) return attempts.holdUnreadable(device);
    const notAfter = clock() + patienceMilliseconds;
    return attempts.attempt({ notification, device }, { ...before, hasWaited: true, notAfter });
  }

  /**
   * Postpones a job. The first attempt ended only after the notification was queued, and its outcome requires a longer
   * delay.
   */
  #postpone(receipt: Receipt, at: number): JobOutcome<RelayTables> {
    const { reason = 'UNDER_WAY' } = receipt;
    const apply = (transaction: RelayTransaction) =>
      saveReceipts(transaction.db, [{ ...receipt, notBefore: undefined }]);
    return { kind: 'retry', at, reason, apply };
  }

  /** Finds the device. Returns `undefined` if the device is missing or expired, or belongs to another vendor. */
  async #findDevice(notification: EncryptedNotification): Promise<StoredRelayDevice | undefined> {
    const { database, tokenVault: vault } = this.#options;
    const found = await findRelayDevices(database.db, [notification.relayDeviceId], vault);
    const device = found.find(notification);
    if (device === undefined || device.expiredAt !== undefined) return undefined;
    return hasReadableToken(device) && !isOfKind(device, notification) ? undefined : device;
  }

  async #apply(
    transaction: RelayTransaction,
    notification: EncryptedNotification,
    outcome: Outcome,
    counts: TryCounts,
  ): Promise<void> {
    const { db } = transaction;
    const now = this.#options.clock();
    const stands = await applyOutcome(db, notification, outcome, now);
    await saveReceipts(db, [receiptOf(notification, stands, counts, now)]);
    if (outcome.kind !== 'retry') transaction.afterCommit(() => this.#options.onSettled());
  }

  async #giveUp(transaction: RelayTransaction, job: Job, reason: string): Promise<void> {
    const notification = decodeNotification(job.payload);
    const receipt = await this.#options.receipts.findOne(notification);
    if (hasEnded(receipt)) return;
    const outcome: Outcome = { kind: 'rejected', reason: `${givenUp}${reason}`, fault: 'vendor' };
    const { attempts = 0, doubts = 0 } = receipt ?? {};
    await this.#apply(transaction, notification, outcome, { attempts, doubts });
    transaction.afterCommit(() => this.#options.activity.noteOutcome(notification.serverId, 'rejected'));
  }
}

/**
 * Whether the notification has a final outcome. The outcome of a dead letter does not count, because an operator has
 * requeued it.
 */
function hasEnded(receipt: Receipt | undefined): boolean {
  return receipt !== undefined && receipt.status !== 'queued' && receipt.reason?.startsWith(givenUp) !== true;
}

/** Serializes a notification for the job queue. Omits the token, which stays in the device's row. */
function encodeNotification({ collapseId, urgency, ...rest }: EncryptedNotification): string {
  return stringifyJson({ ...rest, collapseId: collapseId ?? null, urgency: { ...urgency } });
}

/** Inverse of {@link encodeNotification}. */
function decodeNotification(text: string): EncryptedNotification {
  const stored: unknown = parseJson(text);
  const { collapseId, ...rest } = stored as StoredNotification;
  return { ...rest, collapseId: collapseId ?? undefined };
}

interface StoredNotification extends Omit<EncryptedNotification, 'collapseId'> {
  readonly collapseId: string | null;
}
