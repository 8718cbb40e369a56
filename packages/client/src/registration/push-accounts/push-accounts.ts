import type { PushAccount } from '../../accounts/push-account.js';
import type { RegistrationGeneration } from '../generation.js';
import { bringUpToDate } from './bring-up-to-date.js';

/** The older generation: the phone identifies an account by a random id, and sends the public key of its key pair. */
export const pushAccounts: RegistrationGeneration = {
  bringUpToDate,
  mayBeKnown: ({ sequence, registration, device }: PushAccount) =>
    (sequence !== undefined || registration !== undefined) && device?.keyPairUnusedSince === undefined,
  requestTest: (api, { pushAccountId }) => api.sendTestNotification(pushAccountId),
  remove: (api, { pushAccountId }) => api.unregisterPushDevice(pushAccountId),
};
