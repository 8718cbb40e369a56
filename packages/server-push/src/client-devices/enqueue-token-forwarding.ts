import type { DatabaseWithJobs } from '@waxwing/jobs';
import { type ClientDeviceId, parseJson } from '@waxwing/protocol';
import { enqueueForwardingJob } from '../registrations/forwarding-jobs.js';
import type { PushTransaction, ServerPushTables } from '../tables.js';
import type { ClientDeviceRow } from './client-device-state.js';
import type { TokenKey } from './pending-tokens.js';

/** Kinds of jobs that forward a token's registration to the relay. */
export const tokenJobKinds = {
  common: 'client-devices/forward-token',
  /**
   * For users who already have many pending registrations. A separate kind, so that these users do not delay other
   * users.
   */
  further: 'client-devices/forward-further-token',
} as const;

/** A registration to forward. */
interface AcceptedToken {
  readonly key: TokenKey;
  /** Number of the user's registrations that were already pending. */
  readonly waitingBefore: number;
}

/** Enqueues the forwarding job in the transaction that accepts the registration. */
export async function enqueueTokenForwarding(
  database: Pick<DatabaseWithJobs<ServerPushTables>, 'jobs'>,
  transaction: PushTransaction,
  { key, waitingBefore }: AcceptedToken,
  now: number,
): Promise<void> {
  const payload = JSON.stringify({ client_device_id: key.id, generation: key.generation });
  const jobKinds = tokenJobKinds;
  await enqueueForwardingJob(database, transaction, { jobKinds, payload, waitingBefore, now });
}

/**
 * Forwards the pending registration of a locked device again. Ignores the result of a request that is already in
 * flight.
 */
export async function forwardTokenAgain(
  database: Pick<DatabaseWithJobs<ServerPushTables>, 'jobs'>,
  transaction: PushTransaction,
  row: Pick<ClientDeviceRow, 'id' | 'generation'>,
  now: number,
): Promise<void> {
  const key = { id: row.id, generation: row.generation + 1 };
  await transaction.db
    .updateTable('client_devices')
    .set({ generation: key.generation })
    .where('id', '=', row.id)
    .execute();
  await enqueueTokenForwarding(database, transaction, { key, waitingBefore: 0 }, now);
}

/** Reads the payload of a forwarding job. */
export function readTokenKey(payload: string): TokenKey {
  const { client_device_id: id, generation } = parseJson(payload) as Record<string, number>;
  return { id: Number(id) as ClientDeviceId, generation: Number(generation) };
}
