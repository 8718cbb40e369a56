import type { DatabaseWithJobs, Job, JobHandler, JobOutcome } from '@waxwing/jobs';
import type { UserId } from '@waxwing/protocol';
import type { Clock } from '@waxwing/service/lifecycle';
import { retryLater } from '../relay-link/retry-later.js';
import type { ServerPushOptions } from '../server-push-options.js';
import type { PushTransaction, ServerPushTables } from '../tables.js';
import type { NotificationContent } from './notification-content.js';
import type { NotificationSender } from './notification-sender.js';

/** Kind of the job that sends one notification to one user's devices. */
export const deliverNotificationJob = 'notifications/deliver-notification';

const capMilliseconds = 10 * 60_000;
const concurrency = 32;

/** A notification for all devices of one user. */
export interface QueuedNotification {
  readonly userId: UserId;
  readonly content: NotificationContent;
  /** Deadline in Unix milliseconds; the notification is dropped after it. */
  readonly giveUpAt: number;
}

/** Enqueues a notification in the transaction of the change it reports. */
export async function enqueueNotification(
  { jobs }: DatabaseWithJobs<ServerPushTables>,
  transaction: PushTransaction,
  { userId, content, giveUpAt }: QueuedNotification,
): Promise<void> {
  const payload = JSON.stringify({ userId, content });
  await jobs.enqueue(transaction, { kind: deliverNotificationJob, payload, giveUpAt });
}

export interface DeliverNotificationOptions {
  /** `undefined` if the organization has no relay. */
  readonly sender: NotificationSender | undefined;
  /** Called before each attempt to deliver a message. Default: always wanted. */
  readonly isWanted: ServerPushOptions['isWanted'] | undefined;
  readonly clock: Clock;
  readonly random: () => number;
}

/**
 * Handles the delivery job. Each attempt seals for the user's devices of that moment, so that newly registered ones
 * are included, and retries with backoff until the relay accepts. Delivery is at least once: the phone drops a repeat
 * after a crash.
 */
export function deliverNotificationHandler(
  options: DeliverNotificationOptions,
): JobHandler<ServerPushTables> {
  const { sender, clock, random, isWanted = async () => true } = options;

  async function run(job: Job, signal: AbortSignal): Promise<JobOutcome<ServerPushTables>> {
    const { userId, content } = JSON.parse(job.payload) as QueuedNotification;
    if (sender === undefined) return { kind: 'done' };
    // The message may have been read or deleted during an outage of the relay. Its notification must not arrive after
    // its removal.
    if (content.type === 'message' && !(await isWanted(userId, content.messageId))) return { kind: 'done' };
    const recipients = await sender.recipientsOf(userId);
    if (recipients.length === 0) return { kind: 'done' };
    const outcome = await sender.send(userId, recipients, content, signal);
    if (outcome.kind === 'sent') return { kind: 'done' };
    if (outcome.kind === 'refused-for-good') {
      return { kind: 'dead', reason: `the relay refused it: ${outcome.code} ${outcome.message}` };
    }
    if (signal.aborted) return { kind: 'retry', at: clock(), reason: 'the server was closing' };
    return retryLater(job, outcome, { clock, random, capMilliseconds });
  }

  return { concurrency, run, giveUp: () => async () => undefined };
}
