import type { DatabaseWithJobs } from '@waxwing/jobs';
import type { PushTransaction, ServerPushTables } from '../tables.js';
import type { ClientDeviceRow } from './client-device-state.js';
import { removeFormerRelayDevices } from './former-relay-devices.js';
import { type freeableColumns, freedBy } from './freed-tokens.js';
import { enqueueTokenRemoval } from './remove-tokens.js';

type DeletedDevice = Pick<ClientDeviceRow, (typeof freeableColumns)[number] | 'former_relay_devices'>;

/**
 * Enqueues jobs for deleted devices. The jobs ask the relay to delete tokens that no other device uses, and relay
 * devices that the deleted devices had replaced.
 */
export async function removeAtRelay(
  database: Pick<DatabaseWithJobs<ServerPushTables>, 'jobs'>,
  transaction: PushTransaction,
  deleted: readonly DeletedDevice[],
  now: number,
): Promise<void> {
  await enqueueTokenRemoval(database, transaction, { freed: freedBy(deleted), now });
  await removeFormerRelayDevices(database, transaction, deleted, now);
}
