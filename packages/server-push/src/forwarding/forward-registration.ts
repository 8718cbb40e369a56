import type { ForwardedRegistration } from '@waxwing/protocol';
import { enqueueTokenRemoval } from '../client-devices/remove-tokens.js';
import { readRegistrationKey, registrationJobKinds } from '../push-devices/enqueue-forwarding.js';
import {
  activateRegistration,
  failRegistration,
  pendingRegistrations,
  type RegistrationKey,
} from '../push-devices/pending-registrations.js';
import type { RegisteredRelayDevice } from '../push-devices/push-account-format.js';
import { type PushDeviceRow, pushDeviceEvent } from '../push-devices/push-device-state.js';
import type { ChangedPushDevice } from '../push-devices/push-device-store.js';
import { enqueueRemoval } from '../push-devices/remove-relay-devices.js';
import { type ForwardingOptions, handleForwardingJobs } from '../registrations/forwarding-jobs.js';
import { noOthers, type OtherRegistrations } from '../registrations/same-token.js';
import type { GroupedRegistrations } from '../relay-link/grouped-registrations.js';
import type { PublishEvents } from '../server-push-options.js';
import type { PushTransaction } from '../tables.js';
import { otherRegistrations } from './other-registrations.js';
import { dropOlderOfPhone } from './same-phone.js';

export interface ForwardRegistrationOptions extends ForwardingOptions {
  /** Returns `undefined` if the organization has no relay. */
  registrations(): GroupedRegistrations<ForwardedRegistration, RegisteredRelayDevice> | undefined;
  readonly publish: PublishEvents;
}

/** A pending registration, and the user's other registrations. */
interface FoundRegistration extends OtherRegistrations {
  readonly row: PushDeviceRow;
}

/**
 * Registers the handlers for both forwarding jobs. A forwarded device becomes active or failed, and the same
 * transaction publishes an event about the device.
 */
export function handleForwarding(options: ForwardRegistrationOptions): void {
  handleForwardingJobs(options, {
    jobKinds: registrationJobKinds,
    readKey: readRegistrationKey,
    pending: (keys: readonly RegistrationKey[]) => findRegistrations(options, keys),
    comparesTokens: () => options.registrations()?.comparesTokens ?? false,
    register: async ({ row, accountsOfUser, tokenIdsOfUser }, signal) => {
      const registration = {
        pushAccountId: row.push_account_id,
        bouncerPublicKey: row.pending_bouncer_public_key ?? '',
        encryptedPushRegistration: row.pending_encrypted_registration ?? '',
        accountsOfUser,
        tokenIdsOfUser,
      };
      return options.registrations()?.register(registration, signal);
    },
    activate: (transaction, key, { row }, registered) => activate(options, transaction, key, row, registered),
    fail: (transaction, key, errorCode) => fail(options, transaction, key, errorCode),
  });
}

async function findRegistrations(
  { database: { db } }: ForwardRegistrationOptions,
  keys: readonly RegistrationKey[],
): Promise<(FoundRegistration | undefined)[]> {
  const rows = await pendingRegistrations(db, keys);
  const others = await otherRegistrations(
    db,
    rows.map((row) => row && { userId: row.user_id, own: row.push_account_id }),
  );
  return rows.map((row, index) => row && { row, ...(others[index] ?? noOthers) });
}

async function activate(
  { database, publish, clock }: ForwardRegistrationOptions,
  transaction: PushTransaction,
  key: RegistrationKey,
  { user_id: userId, push_account_id: pushAccountId }: PushDeviceRow,
  registered: RegisteredRelayDevice,
): Promise<void> {
  const now = clock();
  const found = { ...key, ...registered, userId, pushAccountId };
  const dropped = await dropOlderOfPhone(database, transaction, found, now);
  const device = await activateRegistration(transaction, key, registered.relayDeviceId, now);
  await announce(publish, transaction, device);
  await publish(transaction, dropped.tokens.events);
  // If the registration is no longer pending, no PushDevice uses the device that the relay has just created.
  const freed = [...dropped.relayDevices, ...(device?.freed ?? [{ ...registered, pushAccountId }])];
  await enqueueRemoval(database, transaction, { freed, now });
  await enqueueTokenRemoval(database, transaction, { freed: dropped.tokens.freed, now });
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
