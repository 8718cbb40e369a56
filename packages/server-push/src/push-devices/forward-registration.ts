import type { DatabaseWithJobs } from '@waxwing/jobs';
import { type ForwardedRegistration, parseJson } from '@waxwing/protocol';
import {
  enqueueForwardingJob,
  type ForwardingOptions,
  handleForwardingJobs,
} from '../registrations/forwarding-jobs.js';
import type { GroupedRegistrations } from '../relay-link/grouped-registrations.js';
import type { PublishEvents } from '../server-push-options.js';
import type { PushDeviceId, PushTransaction, ServerPushTables } from '../tables.js';
import type { AcceptedRegistration } from './accept-registration.js';
import {
  activateRegistration,
  failRegistration,
  pendingRegistrations,
  type RegistrationKey,
} from './pending-registrations.js';
import type { RegisteredRelayDevice } from './push-account-format.js';
import { pushDeviceEvent } from './push-device-state.js';
import type { ChangedPushDevice, FreedRelayDevice } from './push-device-store.js';
import { enqueueRemoval } from './remove-relay-devices.js';
import { dropOlderOfSameToken, withAccountsOfUser } from './same-token-devices.js';

/** Kind of the job that forwards an accepted registration to the relay. */
export const forwardRegistrationJob = 'push-devices/forward-registration';
/** Kind of the same job for a user who already has many pending registrations. */
export const forwardFurtherRegistrationJob = 'push-devices/forward-further-registration';

const jobKinds = { common: forwardRegistrationJob, further: forwardFurtherRegistrationJob };

export interface ForwardRegistrationOptions extends ForwardingOptions {
  /** Returns `undefined` if the organization has no relay. */
  registrations(): GroupedRegistrations<ForwardedRegistration, RegisteredRelayDevice> | undefined;
  readonly publish: PublishEvents;
}

/** Enqueues the forwarding job in the transaction that accepts the registration. */
export async function enqueueForwarding(
  database: DatabaseWithJobs<ServerPushTables>,
  transaction: PushTransaction,
  { key, waitingBefore }: AcceptedRegistration,
  now: number,
): Promise<void> {
  const payload = JSON.stringify({ push_device_id: key.id, generation: key.generation });
  await enqueueForwardingJob(database, transaction, { jobKinds, payload, waitingBefore, now });
}

/**
 * Registers the handlers of both forwarding jobs. The device becomes active or failed, and the same transaction publishes
 * an event.
 */
export function handleForwarding(options: ForwardRegistrationOptions): void {
  const { db } = options.database;
  handleForwardingJobs(options, {
    jobKinds,
    readKey,
    pending: async (keys: readonly RegistrationKey[]) =>
      withAccountsOfUser(db, await pendingRegistrations(db, keys)),
    register: async ({ row, accountsOfUser }, signal) => {
      const registration = {
        pushAccountId: row.push_account_id,
        bouncerPublicKey: row.pending_bouncer_public_key ?? '',
        encryptedPushRegistration: row.pending_encrypted_registration ?? '',
        accountsOfUser,
      };
      return options.registrations()?.register(registration, signal);
    },
    activate: (transaction, key, { row }, registered) =>
      activate(options, transaction, key, { ...registered, pushAccountId: row.push_account_id }),
    fail: (transaction, key, errorCode) => fail(options, transaction, key, errorCode),
  });
}

async function activate(
  { database, publish, clock }: ForwardRegistrationOptions,
  transaction: PushTransaction,
  key: RegistrationKey,
  accepted: FreedRelayDevice & RegisteredRelayDevice,
): Promise<void> {
  const now = clock();
  const dropped = await dropOlderOfSameToken(transaction, key, accepted.sameTokenAccounts, now);
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

function readKey(payload: string): RegistrationKey {
  const { push_device_id: id, generation } = parseJson(payload) as Record<string, number>;
  return { id: Number(id) as PushDeviceId, generation: Number(generation) };
}
