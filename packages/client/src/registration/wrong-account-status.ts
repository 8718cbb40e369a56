import { type AccountIdentity, isSameAccount } from '../accounts/push-account.js';
import type { EventQueue } from '../chat-api/event-queue.js';
import { type RegistrationStatus, registrationStatus } from './registration-status.js';

/**
 * Returns the status for an account that has a different user id or URL on its server. Notifications would contain that
 * other identity, so this phone could not open any of them. Returns `undefined` if the identities match.
 */
export function wrongAccountStatus(
  identity: AccountIdentity,
  { userId, realmUrl = identity.realmUrl }: Pick<EventQueue, 'userId' | 'realmUrl'>,
): RegistrationStatus | undefined {
  if (isSameAccount(identity, { realmUrl, userId })) return undefined;
  const warning = `The server reports user ${userId} of ${realmUrl}, but the app uses user ${identity.userId} of ${identity.realmUrl}: the app must use the identity in the server's sign-in response, and the server's administrator must set the organization's URL to the one that apps use.`;
  return registrationStatus('wrong-account', { warning });
}
