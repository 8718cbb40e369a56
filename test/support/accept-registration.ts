import type { UserId } from '@waxwing/protocol';
import {
  type Acceptance,
  type AskedRegistration,
  acceptRegistrations,
} from '#server-push/push-devices/accept-registration.js';
import type { PushTransaction } from '#server-push/tables.js';

/** Accepts one registration, bypassing the user's rate limits. */
export async function acceptRegistration(
  transaction: PushTransaction,
  userId: UserId,
  registration: AskedRegistration['registration'],
  now: number,
): Promise<Acceptance> {
  const [acceptance] = await acceptRegistrations(transaction, [{ userId, registration }], now);
  if (acceptance === undefined) throw new Error('the registration got no response');
  return acceptance;
}
