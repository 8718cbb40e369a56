import type { RelayDeviceId } from '@waxwing/protocol';
import type { Transaction } from 'kysely';
import { markExpired } from '../../registrations/relay-device-store.js';
import type { RelayTables } from '../../tables.js';
import type { Attempt } from '../attempts/attempt-delivery.js';

const registeredSince: Attempt = { kind: 'rejected', reason: 'REGISTERED_SINCE', fault: 'vendor' };

/**
 * Expires the device whose token was called dead at `now` (Unix milliseconds). What the attempt comes to then: a token
 * that was registered again meanwhile is not gone.
 */
export async function expireDevice(
  db: Transaction<RelayTables>,
  relayDeviceId: RelayDeviceId,
  attempt: Extract<Attempt, { kind: 'gone' }>,
  now: number,
): Promise<Attempt> {
  const { ifRegisteredBefore } = attempt;
  if (ifRegisteredBefore === undefined) return attempt;
  if (await markExpired(db, relayDeviceId, { at: now, ifRegisteredBefore })) return attempt;
  const row = await db
    .selectFrom('relay_devices')
    .select('expired_at')
    .where('id', '=', relayDeviceId)
    .executeTakeFirst();
  return row === undefined || row.expired_at !== null ? attempt : registeredSince;
}
