import type { DatabaseWithJobs, Job, JobHandler, JobOutcome } from '@waxwing/jobs';
import { maximumPushDevicesPerUser, parseJson } from '@waxwing/protocol';
import { Batcher, type Clock } from '@waxwing/service/lifecycle';
import type { GroupedRegistrations } from '../relay-link/grouped-registrations.js';
import type { RegisteredRelayDevice } from '../relay-link/relay-answer.js';
import { retryLater } from '../relay-link/retry-later.js';
import type { PublishEvents } from '../server-push-options.js';
import type { PushDeviceId, PushTransaction, ServerPushTables } from '../tables.js';
import type { AcceptedRegistration } from './accept-registration.js';
import {
  activateRegistration,
  failRegistration,
  pendingRegistrations,
  type RegistrationKey,
} from './pending-registrations.js';
import { pushDeviceEvent } from './push-device-state.js';
import type { ChangedPushDevice, FreedRelayDevice } from './push-device-store.js';
import { enqueueRemoval } from './remove-relay-devices.js';
import {
  dropOlderOfSameToken,
  type RegistrationAmongOthers,
  withAccountsOfUser,
} from './same-token-devices.js';

/** Kind of the job that forwards an accepted registration to the relay. */
export const forwardRegistrationJob = 'push-devices/forward-registration';
/** Kind of the same job for a user who already has many pending registrations. */
export const forwardFurtherRegistrationJob = 'push-devices/forward-further-registration';

// After this long a registration fails. The relay refuses older ones anyway.
export const forwardingDeadlineMilliseconds = 24 * 60 * 60_000;

const capMilliseconds = 60 * 60_000;
const concurrency = 32;
// Low, so that these jobs delay no other users, neither here nor on the connections to the relay.
const furtherConcurrency = 4;
/** More phones than a person has. Further registrations of a user go into a queue of their own. */
const maximumPending = 10;
/** Offset in the queue per pending registration of the same user; makes the queue fair between users. */
const timeSliceMilliseconds = 60_000;

export interface ForwardRegistrationOptions {
  readonly database: DatabaseWithJobs<ServerPushTables>;
  /** `undefined` if the organization has no relay. */
  readonly registrations: GroupedRegistrations | undefined;
  readonly publish: PublishEvents;
  readonly clock: Clock;
  readonly random: () => number;
}

/**
 * Enqueues the forwarding job in the transaction that accepts the registration. Fair between users in two ways:
 *
 * - At most ten registrations per user enter the common queue; the rest go into a queue with lower concurrency.
 * - In both queues each registration is dated one minute after the user's previous one. A user's first registration
 *   therefore waits for at most one of each other user, however many they send.
 */
export async function enqueueForwarding(
  { jobs }: DatabaseWithJobs<ServerPushTables>,
  transaction: PushTransaction,
  { key, waitingBefore }: AcceptedRegistration,
  now: number,
): Promise<void> {
  const kind = waitingBefore < maximumPending ? forwardRegistrationJob : forwardFurtherRegistrationJob;
  const payload = JSON.stringify({ push_device_id: key.id, generation: key.generation });
  const giveUpAt = now + forwardingDeadlineMilliseconds;
  // Dated in the past, so that all jobs are due at once and an idle server delays none.
  const runAt = now - Math.max(0, maximumPushDevicesPerUser - waitingBefore) * timeSliceMilliseconds;
  await jobs.enqueue(transaction, { kind, payload, runAt, giveUpAt });
}

type PendingRegistrations = Batcher<RegistrationKey, RegistrationAmongOthers | undefined>;

/** Registers the handlers of both forwarding jobs. */
export function handleForwarding(options: ForwardRegistrationOptions): void {
  const { db, jobs } = options.database;
  const pending: PendingRegistrations = new Batcher(async (keys) =>
    withAccountsOfUser(db, await pendingRegistrations(db, keys)),
  );
  const handler: Omit<JobHandler<ServerPushTables>, 'concurrency'> = {
    run: (job, signal) => forwardRegistration({ ...options, pending }, job, signal),
    giveUp: (job) => (transaction) => fail(options, transaction, readKey(job), 'REQUEST_EXPIRED'),
  };
  jobs.handle(forwardRegistrationJob, { ...handler, concurrency });
  jobs.handle(forwardFurtherRegistrationJob, { ...handler, concurrency: furtherConcurrency });
}

/**
 * Retries until the relay accepts or refuses for good, or a day has passed. The device then becomes active or failed,
 * and the same transaction publishes an event. Does nothing if the registration was replaced or removed in the
 * meantime.
 */
async function forwardRegistration(
  options: ForwardRegistrationOptions & { readonly pending: PendingRegistrations },
  job: Job,
  signal: AbortSignal,
): Promise<JobOutcome<ServerPushTables>> {
  const { pending, registrations, clock, random } = options;
  const key = readKey(job);
  const found = await pending.add(key);
  if (found === undefined) return { kind: 'done' };
  if (registrations === undefined)
    return retryLater(job, { reason: 'no relay is configured' }, { clock, random, capMilliseconds });
  const { row, accountsOfUser } = found;
  const registration = {
    pushAccountId: row.push_account_id,
    bouncerPublicKey: row.pending_bouncer_public_key ?? '',
    encryptedPushRegistration: row.pending_encrypted_registration ?? '',
    accountsOfUser,
  };
  const outcome = await registrations.register(registration, signal);
  if (outcome.kind === 'accepted') {
    const accepted = { ...outcome.answer, pushAccountId: row.push_account_id };
    return { kind: 'done', apply: (transaction) => activate(options, transaction, key, accepted) };
  }
  if (outcome.kind === 'refused-for-good') {
    return { kind: 'done', apply: (transaction) => fail(options, transaction, key, outcome.code) };
  }
  if (signal.aborted) return { kind: 'retry', at: clock(), reason: 'the server was closing' };
  return retryLater(job, outcome, { clock, random, capMilliseconds });
}

async function activate(
  { database, publish, clock }: ForwardRegistrationOptions,
  transaction: PushTransaction,
  key: RegistrationKey,
  accepted: FreedRelayDevice & RegisteredRelayDevice,
): Promise<void> {
  const now = clock();
  const dropped = await dropOlderOfSameToken(transaction, key, accepted.sameTokenAccounts);
  const device = await activateRegistration(transaction, key, accepted.relayDeviceId, now);
  await announce(publish, transaction, device);
  // If the registration is no longer pending, the device that the relay has just created is unused.
  const freed = [...dropped, ...(device?.freed ?? [accepted])];
  await enqueueRemoval(database, transaction, { freed, now });
}

async function fail(
  { publish, clock }: ForwardRegistrationOptions,
  transaction: PushTransaction,
  key: RegistrationKey,
  errorCode: string,
): Promise<void> {
  const device = await failRegistration(transaction, key, errorCode, clock());
  await announce(publish, transaction, device, errorCode);
}

async function announce(
  publish: ForwardRegistrationOptions['publish'],
  transaction: PushTransaction,
  device: ChangedPushDevice | undefined,
  errorCode?: string,
): Promise<void> {
  if (device === undefined) return;
  const event = pushDeviceEvent(device.pushAccountId, errorCode);
  await publish(transaction, [{ event, audience: [device.userId] }]);
}

function readKey(job: Job): RegistrationKey {
  const { push_device_id: id, generation } = parseJson(job.payload) as Record<string, number>;
  return { id: Number(id) as PushDeviceId, generation: Number(generation) };
}
