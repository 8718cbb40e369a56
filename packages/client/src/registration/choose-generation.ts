import type { PushAccount } from '../accounts/push-account.js';
import { clientDevices } from './client-devices/client-devices.js';
import type { RegistrationGeneration } from './generation.js';
import { hasLeft } from './push-accounts/leave-client-device.js';
import { pushAccounts } from './push-accounts/push-accounts.js';

/** The lowest feature level with support for the newer generation. */
const firstLevelOfClientDevices = 468;

export const generations: readonly RegistrationGeneration[] = [clientDevices, pushAccounts];

/**
 * Returns the generation to use with a server, based on its feature level. If the level is unknown (because the
 * response comes from a proxy, or the server is being upgraded), the account stays in its current generation.
 */
export function generationOfServer(
  featureLevel: number | undefined,
  account: PushAccount | undefined,
): RegistrationGeneration {
  const isNewer =
    featureLevel === undefined
      ? account?.device !== undefined && !hasLeft(account.device)
      : featureLevel >= firstLevelOfClientDevices;
  return isNewer ? clientDevices : pushAccounts;
}

/** Returns the generation in which an account is registered. */
export function generationOfAccount(account: PushAccount): RegistrationGeneration {
  // During a migration, an account has registrations of both generations. The older registration stays in use until the
  // newer registration is active.
  return pushAccounts.mayBeKnown(account) ? pushAccounts : clientDevices;
}
