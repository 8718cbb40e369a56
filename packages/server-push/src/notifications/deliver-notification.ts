import type { DatabaseWithJobs, Job, JobHandler, JobOutcome } from '@waxwing/jobs';
import type { UserId } from '@waxwing/protocol';
import type { Clock } from '@waxwing/service/lifecycle';
import { activePushDevices } from '../push-devices/push-device-store.js';
import { retryLater } from '../relay-link/retry-later.js';
import type { ServerPushOptions } from '../server-push-options.js';
import type { PushTransaction, ServerPushTables } from '../tables.js';
import type { NotificationContent } from './notification-content.js';
import type { NotificationSender } from './notification-sender.js';

/** Kind of the job that sends one notification to one user's devices. */
export const deliverNotificationJob = 'notifications/deliver-notification';

const capMilliseconds = 10 * 60_000;
const concurrency = 32;

export interface QueuedNotification {
  readonly userId: UserId;
  readonly content: NotificationContent;
  /** When it is of no use any more, in Unix milliseconds. */
  readonly giveUpAt: number;
}

/** Adds a notification to what is to be sent, within the transaction of what it tells of. */
export async function enqueueNotification(
  { jobs }: DatabaseWithJobs<ServerPushTables>,
  transaction: PushTransaction,
  { userId, content, giveUpAt }: QueuedNotification,
): Promise<void> {
  const payload = JSON.stringify({ userId, content });
  await jobs.enqueue(transaction, { kind: deliverNotificationJob, payload, giveUpAt });
}

export interface DeliverNotificationOptions {
  readonly database: DatabaseWithJobs<ServerPushTables>;
  /** `undefined` while the organisation has no relay. */
  readonly sender: NotificationSender | undefined;
  /** Asked before each try to deliver a message. */
  readonly isWanted: ServerPushOptions['isWanted'] | undefined;
  readonly clock: Clock;
  readonly random: () => number;
}

/**
 * Seals for the devices that the user has at that moment, so that one registered meanwhile is not missed, and tries
 * until the relay takes it. A repeat after a crash is dropped by the phone.
 */
export function deliverNotificationHandler(
  options: DeliverNotificationOptions,
): JobHandler<ServerPushTables> {
  const { database, sender, clock, random, isWanted = async () => true } = options;

  async function run(job: Job, signal: AbortSignal): Promise<JobOutcome<ServerPushTables>> {
    const { userId, content } = JSON.parse(job.payload) as QueuedNotification;
    if (sender === undefined) return { kind: 'done' };
    // The relay may have been away for long: what was to be removed meanwhile must not come after its removal.
    if (content.type === 'message' && !(await isWanted(userId, content.messageId))) return { kind: 'done' };
    const devices = await activePushDevices(database.db, userId);
    if (devices.length === 0) return { kind: 'done' };
    const outcome = await sender.send(userId, devices, content, signal);
    if (outcome.kind === 'sent') return { kind: 'done' };
    if (outcome.kind === 'refused-for-good') {
      return { kind: 'dead', reason: `the relay refused it: ${outcome.code} ${outcome.message}` };
    }
    if (signal.aborted) return { kind: 'retry', at: clock(), reason: 'the server was closing' };
    return retryLater(job, outcome, { clock, random, capMilliseconds });
  }

  return { concurrency, run, giveUp: () => async () => undefined };
}
