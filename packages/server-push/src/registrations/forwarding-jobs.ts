import type { DatabaseWithJobs, Job, JobHandler, JobOutcome } from '@waxwing/jobs';
import { maximumPushDevicesPerUser } from '@waxwing/protocol';
import { Batcher, type Clock } from '@waxwing/service/lifecycle';
import type { RelayOutcome } from '../relay-link/relay-answer.js';
import { deviceErrorCode } from '../relay-link/relay-codes.js';
import { retryLater } from '../relay-link/retry-later.js';
import type { PushTransaction, ServerPushTables } from '../tables.js';
import { noOthers, type OtherRegistrations } from './same-token.js';

// Time after which a pending registration fails: the relay refuses older registrations.
export const forwardingDeadlineMilliseconds = 24 * 60 * 60_000;
/** Error code for a registration that the relay did not accept before the deadline. */
export const expiredCode = 'REQUEST_EXPIRED';

const capMilliseconds = 60 * 60_000;
const concurrency = 32;
// Concurrency for users with many pending registrations. Low, so that these users do not delay other users, here or on
// the connections to the relay.
const furtherConcurrency = 4;
/**
 * Maximum number of a user's registrations in the common queue. It exceeds the number of phones that one person has.
 * Further registrations go into a separate queue.
 */
const maximumPending = 10;
/** Offset in the queue for each pending registration of the same user. It makes the queue fair between users. */
const timeSliceMilliseconds = 60_000;

/** Job kinds of one generation, for the common queue and for the queue of users with many pending registrations. */
interface JobKinds {
  readonly common: string;
  readonly further: string;
}

interface EnqueuedForwarding {
  readonly jobKinds: JobKinds;
  readonly payload: string;
  /** Number of the user's registrations that were already pending. */
  readonly waitingBefore: number;
  readonly now: number;
}

/**
 * Enqueues a forwarding job in the transaction that accepts the registration. Users share the queue fairly in two ways:
 *
 * - At most ten registrations per user enter the common queue. Further registrations go into a queue with lower
 *   concurrency.
 * - In both queues, each registration is dated one minute after the user's previous registration. So a user's first
 *   registration waits for at most one registration from each other user, no matter how many the others send.
 */
export async function enqueueForwardingJob(
  { jobs }: Pick<DatabaseWithJobs<ServerPushTables>, 'jobs'>,
  transaction: PushTransaction,
  { jobKinds, payload, waitingBefore, now }: EnqueuedForwarding,
): Promise<void> {
  const kind = waitingBefore < maximumPending ? jobKinds.common : jobKinds.further;
  const giveUpAt = now + forwardingDeadlineMilliseconds;
  // Dated in the past, so that all jobs are due immediately. The offset only sets their order, and an idle server
  // delays no job.
  const runAt = now - Math.max(0, maximumPushDevicesPerUser - waitingBefore) * timeSliceMilliseconds;
  await jobs.enqueue(transaction, { kind, payload, runAt, giveUpAt });
}

export interface ForwardingOptions {
  readonly database: DatabaseWithJobs<ServerPushTables>;
  readonly clock: Clock;
  readonly random: () => number;
}

/** The functions that forward one generation's registrations. */
export interface Forwarding<Key, Found extends OtherRegistrations, Registered> {
  readonly jobKinds: JobKinds;
  readKey(payload: string): Key;
  /**
   * Reads pending registrations, in the order of `keys`. Returns `undefined` for each that was replaced, settled or
   * removed.
   */
  pending(keys: readonly Key[]): Promise<readonly (Found | undefined)[]>;
  /** False if the relay is known to be a stock relay, which does not compare tokens. */
  comparesTokens(): boolean;
  /** Returns `undefined` if the organization has no relay. */
  register(found: Found, signal: AbortSignal): Promise<RelayOutcome<Registered> | undefined>;
  activate(transaction: PushTransaction, key: Key, found: Found, registered: Registered): Promise<void>;
  fail(transaction: PushTransaction, key: Key, errorCode: string): Promise<void>;
}

/**
 * Registers the handlers for both forwarding jobs. They retry until the relay accepts or permanently refuses the
 * registration, or until a day has passed. A registration that is replaced or removed before then has no effect.
 */
export function handleForwardingJobs<Key, Found extends OtherRegistrations, Registered>(
  options: ForwardingOptions,
  forwarding: Forwarding<Key, Found, Registered>,
): void {
  const { jobs } = options.database;
  const { jobKinds, readKey } = forwarding;
  const pending = new Batcher((keys: readonly Key[]) => forwarding.pending(keys));
  const handler: Omit<JobHandler<ServerPushTables>, 'concurrency'> = {
    async run(job, signal) {
      const key = readKey(job.payload);
      const found = await pending.add(key);
      if (found === undefined) return { kind: 'done' };
      const isCompared = forwarding.comparesTokens();
      const outcome = await forwarding.register(isCompared ? found : { ...found, ...noOthers }, signal);
      if (isCompared && outcome?.kind === 'accepted') {
        // The relay has compared this registration with those named in the request. If the user has registered again
        // since, the relay must compare again. A registration accepted after this check names this registration, so the
        // relay compares the two.
        const current = await pending.add(key);
        if (current !== undefined && !isNamedBy(found, current)) {
          return { kind: 'retry', at: options.clock(), reason: 'the user registered again meanwhile' };
        }
      }
      const settled = outcome && settle(forwarding, { key, found, outcome });
      return settled ?? retry(options, job, signal, outcome);
    },
    giveUp: (job) => (transaction) => forwarding.fail(transaction, readKey(job.payload), expiredCode),
  };
  jobs.handle(jobKinds.common, { ...handler, concurrency });
  jobs.handle(jobKinds.further, { ...handler, concurrency: furtherConcurrency });
}

function isNamedBy(named: OtherRegistrations, current: OtherRegistrations): boolean {
  return (
    current.accountsOfUser.every((account) => named.accountsOfUser.includes(account)) &&
    current.tokenIdsOfUser.every((tokenId) => named.tokenIdsOfUser.includes(tokenId))
  );
}

interface Answered<Key, Found, Registered> {
  readonly key: Key;
  readonly found: Found;
  readonly outcome: RelayOutcome<Registered>;
}

/** Returns the job's outcome, or `undefined` if the relay has not decided. */
function settle<Key, Found extends OtherRegistrations, Registered>(
  forwarding: Forwarding<Key, Found, Registered>,
  { key, found, outcome }: Answered<Key, Found, Registered>,
): JobOutcome<ServerPushTables> | undefined {
  if (outcome.kind === 'retry') return undefined;
  return {
    kind: 'done',
    apply: (transaction) =>
      outcome.kind === 'accepted'
        ? forwarding.activate(transaction, key, found, outcome.answer)
        : forwarding.fail(transaction, key, deviceErrorCode(outcome.code)),
  };
}

function retry(
  { clock, random }: ForwardingOptions,
  job: Job,
  signal: AbortSignal,
  outcome: RelayOutcome<unknown> | undefined,
): JobOutcome<ServerPushTables> {
  if (signal.aborted) return { kind: 'retry', at: clock(), reason: 'the server was closing' };
  const error = outcome?.kind === 'retry' ? outcome : { reason: 'no relay is configured' };
  return retryLater(job, error, { clock, random, capMilliseconds });
}
