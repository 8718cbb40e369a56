import type { DatabaseWithJobs } from '@waxwing/jobs';
import { parseJson } from '@waxwing/protocol';
import { enqueueForwardingJob } from '../registrations/forwarding-jobs.js';
import type { PushDeviceId, PushTransaction, ServerPushTables } from '../tables.js';
import type { AcceptedRegistration } from './accept-registration.js';
import type { RegistrationKey } from './pending-registrations.js';

/** Kinds of jobs that forward an accepted registration to the relay. */
export const registrationJobKinds = {
  common: 'push-devices/forward-registration',
  /**
   * For users who already have many pending registrations. A separate kind, so that these users do not delay other
   * users.
   */
  further: 'push-devices/forward-further-registration',
} as const;

/** The job queue of the server's database. */
export type ForwardingDatabase = Pick<DatabaseWithJobs<ServerPushTables>, 'jobs'>;

/** Enqueues the forwarding job in the transaction that accepts the registration. */
export async function enqueueForwarding(
  database: ForwardingDatabase,
  transaction: PushTransaction,
  { key, waitingBefore }: AcceptedRegistration,
  now: number,
): Promise<void> {
  const payload = JSON.stringify({ push_device_id: key.id, generation: key.generation });
  const jobKinds = registrationJobKinds;
  await enqueueForwardingJob(database, transaction, { jobKinds, payload, waitingBefore, now });
}

/**
 * Forwards the pending registration of a locked device again. Ignores the result of a request that is already in
 * flight.
 */
export async function forwardRegistrationAgain(
  database: ForwardingDatabase,
  transaction: PushTransaction,
  row: RegistrationKey,
  now: number,
): Promise<void> {
  const key = { id: row.id, generation: row.generation + 1 };
  await transaction.db
    .updateTable('push_devices')
    .set({ generation: key.generation })
    .where('id', '=', row.id)
    .execute();
  await enqueueForwarding(database, transaction, { key, waitingBefore: 0 }, now);
}

/** Reads the payload of a forwarding job. */
export function readRegistrationKey(payload: string): RegistrationKey {
  const { push_device_id: id, generation } = parseJson(payload) as Record<string, number>;
  return { id: Number(id) as PushDeviceId, generation: Number(generation) };
}
