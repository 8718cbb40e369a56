import type { DatabaseWithJobs, Job, JobHandler, JobOutcome } from '@waxwing/jobs';
import { maximumPushDevicesPerUser, parseJson } from '@waxwing/protocol';
import { Batcher, type Clock } from '@waxwing/service/lifecycle';
import type { GroupedRegistrations } from '../relay-link/grouped-registrations.js';
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
import { type PushDeviceRow, pushDeviceEvent } from './push-device-state.js';
import type { ChangedPushDevice, FreedRelayDevice } from './push-device-store.js';
import { enqueueRemoval } from './remove-relay-devices.js';

/** Kind of the job that takes an accepted registration to the relay. */
export const forwardRegistrationJob = 'push-devices/forward-registration';
/** Kind of the job that does the same for a user of whom many registrations wait already. */
export const forwardFurtherRegistrationJob = 'push-devices/forward-further-registration';

// How long the relay is asked before a registration counts as failed: as long as it takes one by its age.
export const forwardingDeadlineMilliseconds = 24 * 60 * 60_000;

const capMilliseconds = 60 * 60_000;
const concurrency = 32;
// Few enough that they hold up nobody else, neither here nor on the connections to the relay.
const furtherConcurrency = 4;
/** More phones than a person has; what waits of a user beyond them waits apart from what others wait for. */
const mostWaitingAmongOthers = 10;
/** By how much a user's turn comes later for each registration of theirs that waits already. */
const turnMilliseconds = 60_000;

export interface ForwardRegistrationOptions {
  readonly database: DatabaseWithJobs<ServerPushTables>;
  /** `undefined` while the organisation has no relay. */
  readonly registrations: GroupedRegistrations | undefined;
  readonly publish: PublishEvents;
  readonly clock: Clock;
  readonly random: () => number;
}

/**
 * Adds the job, within the transaction that accepts the registration. However many registrations a user has sent, ten
 * of them at most are in the queue of everybody, so that nobody waits for the rest of them. In both queues users take
 * turns: each counts as if it had come a minute later than the one of the same user before it, so that however many
 * users send many, another user's first one waits for one of each of them.
 */
export async function enqueueForwarding(
  { jobs }: DatabaseWithJobs<ServerPushTables>,
  transaction: PushTransaction,
  { key, waitingBefore }: AcceptedRegistration,
  now: number,
): Promise<void> {
  const kind =
    waitingBefore < mostWaitingAmongOthers ? forwardRegistrationJob : forwardFurtherRegistrationJob;
  const payload = JSON.stringify({ push_device_id: key.id, generation: key.generation });
  const giveUpAt = now + forwardingDeadlineMilliseconds;
  // In the past, so that all of them are due at once and an idle server waits for none.
  const runAt = now - Math.max(0, maximumPushDevicesPerUser - waitingBefore) * turnMilliseconds;
  await jobs.enqueue(transaction, { kind, payload, runAt, giveUpAt });
}

type PendingRegistrations = Batcher<RegistrationKey, PushDeviceRow | undefined>;

/** Says who takes accepted registrations to the relay. */
export function handleForwarding(options: ForwardRegistrationOptions): void {
  const { db, jobs } = options.database;
  const pending: PendingRegistrations = new Batcher((keys) => pendingRegistrations(db, keys));
  const handler: Omit<JobHandler<ServerPushTables>, 'concurrency'> = {
    run: (job, signal) => forwardRegistration({ ...options, pending }, job, signal),
    giveUp: (job) => (transaction) => fail(options, transaction, readKey(job), 'REQUEST_EXPIRED'),
  };
  jobs.handle(forwardRegistrationJob, { ...handler, concurrency });
  jobs.handle(forwardFurtherRegistrationJob, { ...handler, concurrency: furtherConcurrency });
}

/**
 * Asks the relay until it accepts, refuses for good, or a day has passed; then the device is active or failed, and an
 * event says so in the same commit. A job for a registration that was replaced or removed meanwhile changes nothing.
 */
async function forwardRegistration(
  options: ForwardRegistrationOptions & { readonly pending: PendingRegistrations },
  job: Job,
  signal: AbortSignal,
): Promise<JobOutcome<ServerPushTables>> {
  const { pending, registrations, clock, random } = options;
  const key = readKey(job);
  const row = await pending.add(key);
  if (row === undefined) return { kind: 'done' };
  if (registrations === undefined)
    return retryLater(job, { reason: 'no relay is configured' }, { clock, random, capMilliseconds });
  const registration = {
    pushAccountId: row.push_account_id,
    bouncerPublicKey: row.pending_bouncer_public_key ?? '',
    encryptedPushRegistration: row.pending_encrypted_registration ?? '',
  };
  const outcome = await registrations.register(registration, signal);
  if (outcome.kind === 'accepted') {
    const accepted = { relayDeviceId: outcome.answer, pushAccountId: row.push_account_id };
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
  accepted: FreedRelayDevice,
): Promise<void> {
  const now = clock();
  const device = await activateRegistration(transaction, key, accepted.relayDeviceId, now);
  await announce(publish, transaction, device);
  // Where nothing waited for the answer any more, nobody will use what the relay has just made.
  await enqueueRemoval(database, transaction, { freed: device?.freed ?? [accepted], now });
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
