import type { DatabaseWithJobs, Job, JobOutcome, NewJob } from '@waxwing/jobs';
import type { Clock } from '@waxwing/service/lifecycle';
import type { RelayRefusal, RelayRetry } from '../relay-link/relay-answer.js';
import { retryLater } from '../relay-link/retry-later.js';
import type { PushTransaction, ServerPushTables } from '../tables.js';
import { replaceQueued } from './delivery-reports.js';
import type { DeliveryResults } from './delivery-results.js';
import { type DeviceResult, readReceipt } from './device-results.js';
import type { GroupedReceipts } from './grouped-receipts.js';
import type { Recipient } from './recipient.js';

/** Kind of the job that reads the outcomes of notifications that the relay has queued. */
export const readReceiptsJob = 'notifications/read-receipts';

const firstMilliseconds = 1000;
const capMilliseconds = 30 * 60_000;
/**
 * How long the job polls. The relay gives up on a queued notification after a day, and keeps its receipt for another
 * day.
 */
const lifetimeMilliseconds = 36 * 60 * 60_000;
/** Maximum number of jobs that run concurrently. They share requests to the relay. */
const concurrency = 64;

/** A notification to one device that is queued at the relay. */
interface Queued {
  /** The relay's id for the notification to this device. */
  readonly id: string;
  readonly row: Recipient['row'];
  /** Why the notification is queued, as the relay first reported. */
  readonly reason?: string | undefined;
}

interface Payload {
  readonly queued: readonly Queued[];
  readonly reportId?: string | undefined;
  /** Unix milliseconds. */
  readonly until: number;
}

/** Builds the job that reads the receipts of the queued notifications in `taken`. Returns `undefined` if none is queued. */
export function receiptsJob(
  taken: readonly { readonly recipient: Pick<Recipient, 'row'>; readonly result: DeviceResult }[],
  reportId: string | undefined,
  now: number,
): NewJob | undefined {
  const queued = taken.flatMap(({ recipient: { row }, result: { status, notificationId: id, reason } }) =>
    status === 'queued' && id !== undefined ? [{ id, row, reason }] : [],
  );
  return queued.length === 0
    ? undefined
    : jobFor({ queued, reportId, until: now + lifetimeMilliseconds }, now);
}

function jobFor(payload: Payload, now: number): NewJob {
  // The deadline is after `until`, when the job ends by itself: a dead letter would ask the admin to act.
  const giveUpAt = payload.until + lifetimeMilliseconds;
  const runAt = now + firstMilliseconds;
  return { kind: readReceiptsJob, payload: JSON.stringify(payload), runAt, giveUpAt };
}

export interface ReadReceiptsOptions {
  readonly database: DatabaseWithJobs<ServerPushTables>;
  readonly results: Pick<DeliveryResults, 'note'>;
  /** Returns `undefined` if the organization has no relay. */
  receipts(): GroupedReceipts | undefined;
  readonly clock: Clock;
  readonly random: () => number;
}

/**
 * Registers the handler for the receipts job. The job polls with exponential backoff until each notification has its
 * final result or the relay has no receipt for it. It ends if the relay does not support receipts.
 */
export function handleReceipts(options: ReadReceiptsOptions): void {
  const { database, clock, random, results } = options;

  async function run(job: Job, signal: AbortSignal): Promise<JobOutcome<ServerPushTables>> {
    const receipts = options.receipts();
    const payload = JSON.parse(job.payload) as Payload;
    if (receipts === undefined || clock() > payload.until) return { kind: 'done' };
    const { settled, left, failure } = await readAll(receipts, payload.queued);
    if (signal.aborted) return { kind: 'retry', at: clock(), reason: 'the server was closing' };
    if (failure?.kind === 'refused-for-good') return { kind: 'done' };
    if (left.length === payload.queued.length) {
      const reason = failure ?? { reason: 'the relay has not delivered it yet' };
      return retryLater(job, reason, { clock, random, capMilliseconds });
    }
    const rows = settled.map(({ queued: { row } }) => row);
    await results.note(
      rows,
      settled.map(({ result }) => result),
    );
    return { kind: 'done', apply: (transaction) => settle(transaction, payload, settled, left) };
  }

  async function settle(
    transaction: PushTransaction,
    payload: Payload,
    settled: readonly Settled[],
    left: readonly Queued[],
  ): Promise<void> {
    const { reportId } = payload;
    const now = clock();
    for (const { queued, result } of reportId === undefined ? [] : settled) {
      await replaceQueued(transaction, { reportId: reportId as string, reason: queued.reason, result, now });
    }
    if (left.length === 0) return;
    await database.jobs.enqueue(transaction, jobFor({ ...payload, queued: left }, now));
  }

  database.jobs.handle(readReceiptsJob, { concurrency, run, giveUp: () => async () => undefined });
}

interface Settled {
  readonly queued: Queued;
  readonly result: DeviceResult;
}

interface Read {
  readonly settled: readonly Settled[];
  /** Notifications without a final result. */
  readonly left: readonly Queued[];
  readonly failure: RelayRefusal | RelayRetry | undefined;
}

async function readAll(receipts: GroupedReceipts, all: readonly Queued[]): Promise<Read> {
  const found = await Promise.all(all.map(({ id }) => receipts.find(id)));
  const settled: Settled[] = [];
  const left: Queued[] = [];
  let failure: Read['failure'];
  for (const [index, outcome] of found.entries()) {
    const queued = all[index] as Queued;
    if (outcome.kind !== 'accepted') {
      failure = outcome;
      left.push(queued);
    } else if (outcome.answer?.status === 'queued') left.push(queued);
    else if (outcome.answer !== undefined) settled.push({ queued, result: readReceipt(outcome.answer) });
  }
  return { settled, left, failure };
}
