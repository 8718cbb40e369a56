import type { DatabaseWithJobs, Job, JobHandler, JobOutcome, NewJob } from '@waxwing/jobs';
import { type JsonObject, parseJson, stringifyJson, type UserId } from '@waxwing/protocol';
import type { Clock } from '@waxwing/service/lifecycle';
import { currentTraceparent, inSpanOf } from '@waxwing/service/tracing';
import type { AnyTransaction } from '@waxwing/storage';
import { readRealmPushStatus } from '../relay-link/realm-push-status.js';
import type { RelayRefusal, RelayRetry } from '../relay-link/relay-answer.js';
import { retryLater } from '../relay-link/retry-later.js';
import type { ServerPushOptions } from '../server-push-options.js';
import type { ServerPushTables } from '../tables.js';
import { completeContent } from './complete-content.js';
import { addToReport } from './delivery-reports.js';
import type { DeviceResult } from './device-results.js';
import { encodeNotification } from './encode-notification.js';
import type { NotificationContent } from './notification-content.js';
import type { NotificationSender } from './notification-sender.js';
import { receiptsJob } from './read-receipts.js';
import { type Recipient, rowName } from './recipient.js';
import { isRegistering, registeredAgain } from './registered-again.js';
import type { Sending } from './send-to-devices.js';

/** Kind of the job that sends one notification to one user's devices. */
export const deliverNotificationJob = 'notifications/deliver-notification';

const capMilliseconds = 10 * 60_000;
/** Typical duration of a registration. */
const registeringMilliseconds = 1000;
const concurrency = 32;

/** A notification without its recipients. */
export interface NewNotification {
  readonly content: NotificationContent;
  /** Deadline in Unix milliseconds; the notification is dropped after it. Default: in 24 hours. */
  readonly giveUpAt?: number;
  /** Id of the report that stores the relay's result for each device, for {@link readReport}. Default: no report. */
  readonly reportId?: string | undefined;
}

/** A notification for all devices of one user. */
export interface QueuedNotification extends NewNotification {
  readonly userId: UserId;
  readonly giveUpAt: number;
}

/** The job's stored payload. */
interface Payload extends Pick<QueuedNotification, 'userId' | 'content' | 'reportId'> {
  /** Row names of the devices for which the relay accepted the notification in earlier jobs. */
  readonly taken?: string[];
  /**
   * The only device to notify, once the relay has the device's new registration. If absent, the job notifies all
   * devices.
   */
  readonly again?: Recipient['row'];
  /** The trace that the notification belongs to, as a W3C `traceparent`. */
  readonly traceparent?: string | undefined;
}

/**
 * Enqueues a notification in the transaction that makes the reported change.
 * @throws RangeError if the payload is too large; TypeError if the payload is invalid.
 */
export async function enqueueNotification(
  { database: { jobs }, realm, clock }: Pick<ServerPushOptions, 'clock' | 'database' | 'realm'>,
  transaction: AnyTransaction,
  { userId, content: given, giveUpAt, reportId }: QueuedNotification,
): Promise<void> {
  const content = completeContent(given, clock());
  // The result is discarded: encoding here checks the size, so that the caller gets the error. Content of other types
  // is shortened until it fits.
  if (content.type === 'payload') encodeNotification(realm, userId, content);
  const payload = encodePayload({ userId, content, reportId, traceparent: currentTraceparent() });
  await jobs.enqueue(transaction, { kind: deliverNotificationJob, payload, giveUpAt });
}

/** Encodes the job's payload. Keeps integers in a host's payload exact, even if a double cannot represent them. */
function encodePayload(payload: Payload): string {
  return stringifyJson(payload as unknown as JsonObject);
}

export interface DeliverNotificationOptions {
  readonly database: DatabaseWithJobs<ServerPushTables>;
  /** Returns `undefined` if the organization has no relay. */
  sender(): NotificationSender | undefined;
  /**
   * Whether a message's notification is still wanted. Called before each request that delivers one. Default: always.
   */
  readonly isWanted: ServerPushOptions['isWanted'] | undefined;
  readonly clock: Clock;
  readonly random: () => number;
}

/**
 * Handles the delivery job. Each attempt seals the notification for the user's current devices, including devices
 * registered since the last attempt. Retries with backoff until the relay accepts the notification. If the relay
 * accepts it for only some devices, a new job retries the others. A device whose registration is dead is notified again
 * if its phone is registering again. Delivery is at least once: a crash can cause duplicates, which the phone drops.
 */
export function deliverNotificationHandler(
  options: DeliverNotificationOptions,
): JobHandler<ServerPushTables> {
  const { database, isWanted = async () => true } = options;

  const deliver: Deliver = async (payload, job, signal) => {
    const { userId, content, taken: before = [], again } = payload;
    const sender = options.sender();
    if (sender === undefined) return { kind: 'done' };
    // While push is off, notifications are dropped, as on stock servers: the relay may leave push off for days.
    if (!(await readRealmPushStatus(database.db)).canPush) return { kind: 'done' };
    // During an outage of the relay, the message may have been read or deleted. The notification must not arrive after
    // the request to retract it.
    const isStillWanted = async () =>
      content.type !== 'message' || (await isWanted(userId, content.messageId));
    if (!(await isStillWanted())) return { kind: 'done' };
    // Reads pending registrations first: if the relay confirms a registration between the two reads, the second read
    // finds it.
    const isWaiting = again !== undefined && (await isRegistering(database.db, again));
    const left = (await sender.recipientsOf(userId)).filter((recipient) => {
      const name = rowName(recipient);
      return again === undefined ? !before.includes(name) : name === rowName({ row: again });
    });
    if (left.length === 0)
      return isWaiting ? awaitRegistration(options, job, payload) : endUnsent(options, payload);
    const notification = { userId, recipients: left, content, isStillWanted, signal };
    const attempt = { job, payload, sender, signal, devices: left.length };
    return concludeSending(options, attempt, await sender.send(notification));
  };

  return { concurrency, run: inItsTrace(deliver), giveUp: () => async () => undefined };
}

type Deliver = (payload: Payload, job: Job, signal: AbortSignal) => Promise<JobOutcome<ServerPushTables>>;

/** Reads the job's payload, and runs `deliver` in the notification's trace. */
function inItsTrace(deliver: Deliver): JobHandler<ServerPushTables>['run'] {
  return (job, signal) => {
    const payload = parseJson(job.payload) as unknown as Payload;
    return inSpanOf(payload.traceparent, deliverNotificationJob, { kind: 'consumer' }, () =>
      deliver(payload, job, signal),
    );
  };
}

/** The result for a device whose notification was dropped because the relay has switched push off. */
const switchedOff: DeviceResult = {
  status: 'rejected',
  reason: 'PUSH_NOTIFICATIONS_DISALLOWED',
  fault: 'relay-configuration',
  app: undefined,
};

interface Attempt {
  readonly job: Job;
  readonly payload: Payload;
  readonly sender: NotificationSender;
  readonly signal: AbortSignal;
  /** Number of devices to notify. */
  readonly devices: number;
}

async function concludeSending(
  options: DeliverNotificationOptions,
  { job, payload, sender, signal, devices }: Attempt,
  { taken, failure, isSwitchedOff }: Sending,
): Promise<JobOutcome<ServerPushTables>> {
  const { database, clock } = options;
  const { userId, taken: before = [], reportId } = payload;
  // If push is switched off, drops the notification without a retry, as stock servers do.
  const outcome = failure && !isSwitchedOff ? judgeFailure(options, job, failure, signal) : undefined;
  if (outcome !== undefined && taken.length === 0) return outcome;
  const names = [...before, ...taken.map(({ recipient }) => rowName(recipient))];
  const rest = outcome && jobForOthers(job, { ...payload, taken: names }, outcome, clock());
  const rows = await registeredAgain(database.db, sender, { userId, taken });
  const repeats = rows.map((row) => jobForRegistering(job, payload, row, clock()));
  const repeated = new Set(rows.map((row) => rowName({ row })));
  const results = taken
    .filter(({ recipient }) => !repeated.has(rowName(recipient)))
    .map(({ result }) => result);
  const dropped = isSwitchedOff ? Array(devices - taken.length).fill(switchedOff) : [];
  const receipts = receiptsJob(taken, reportId, clock());
  return {
    kind: 'done',
    async apply(transaction) {
      if (reportId !== undefined) await addToReport(transaction, reportId, [...results, ...dropped], clock());
      for (const further of [rest, receipts, ...repeats]) {
        if (further !== undefined) await database.jobs.enqueue(transaction, further);
      }
    },
  };
}

function awaitRegistration(
  options: Pick<DeliverNotificationOptions, 'clock' | 'random'>,
  job: Job,
  payload: Payload,
): JobOutcome<ServerPushTables> {
  const reason = "the phone's new registration waits for the relay";
  const retry = retryLater(job, { reason }, { ...options, capMilliseconds });
  // A job past its deadline would become a dead letter, but an admin could do nothing about it.
  return retry.at < job.giveUpAt ? retry : endUnsent(options, payload);
}

/** Ends a job that has no device to notify. If the job was waiting for a registration, reports the device as gone. */
function endUnsent(
  { clock }: Pick<DeliverNotificationOptions, 'clock'>,
  { again, reportId }: Payload,
): JobOutcome<ServerPushTables> {
  if (again === undefined || reportId === undefined) return { kind: 'done' };
  const result = { status: 'gone', reason: undefined, fault: undefined, app: undefined } as const;
  return { kind: 'done', apply: (transaction) => addToReport(transaction, reportId, [result], clock()) };
}

type FailedOutcome = Extract<JobOutcome<ServerPushTables>, { kind: 'retry' | 'dead' }>;

function judgeFailure(
  { clock, random }: Pick<DeliverNotificationOptions, 'clock' | 'random'>,
  job: Job,
  failure: RelayRefusal | RelayRetry,
  signal: AbortSignal,
): FailedOutcome {
  if (failure.kind === 'refused-for-good') {
    return { kind: 'dead', reason: `the relay refused it: ${failure.code} ${failure.message}` };
  }
  if (signal.aborted) return { kind: 'retry', at: clock(), reason: 'the server was closing' };
  return retryLater(job, failure, { clock, random, capMilliseconds });
}

/** Creates the job for a device whose phone is registering again. It has the same deadline as the original job. */
function jobForRegistering(
  { giveUpAt }: Job,
  { userId, content, reportId, traceparent }: Payload,
  row: Recipient['row'],
  now: number,
): NewJob {
  const payload = encodePayload({ userId, content, reportId, traceparent, again: row });
  return { kind: deliverNotificationJob, payload, runAt: now + registeringMilliseconds, giveUpAt };
}

/** Creates the job for the devices that the relay did not accept. It retries or fails in place of the original job. */
function jobForOthers({ giveUpAt }: Job, payload: Payload, outcome: FailedOutcome, now: number): NewJob {
  return {
    kind: deliverNotificationJob,
    payload: encodePayload(payload),
    runAt: outcome.kind === 'retry' ? outcome.at : now,
    giveUpAt,
    reason: outcome.reason,
  };
}
