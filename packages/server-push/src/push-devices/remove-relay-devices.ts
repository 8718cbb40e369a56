import type { DatabaseWithJobs } from '@waxwing/jobs';
import { encodeRelayRemoval } from '@waxwing/protocol';
import { enqueueRemovalJobs, type Removal, type Removing } from '../registrations/removal-jobs.js';
import type { PushTransaction, ServerPushTables } from '../tables.js';
import { type FreedRelayDevice, sortFreedDevices } from './push-device-store.js';

/** Removal of older-generation devices at the relay. */
export const relayDeviceRemoving: Removing<FreedRelayDevice> = {
  jobKind: 'push-devices/remove-relay-devices',
  sort: sortFreedDevices,
  encode: (realmUuid, { free }) => encodeRelayRemoval(realmUuid, { devices: free }),
};

/** Enqueues the removal in the transaction that deletes the PushDevices. */
export async function enqueueRemoval(
  database: Pick<DatabaseWithJobs<ServerPushTables>, 'jobs'>,
  transaction: PushTransaction,
  { freed, ...removal }: Removal<FreedRelayDevice>,
): Promise<void> {
  const named = freed.map(({ relayDeviceId, pushAccountId }) => ({ relayDeviceId, pushAccountId }));
  await enqueueRemovalJobs(database, transaction, relayDeviceRemoving, { freed: named, ...removal });
}
