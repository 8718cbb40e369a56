import type { Transaction } from 'kysely';
import type { RelayDeviceName } from '../../registrations/store/relay-device.js';
import { markExpired, setApnsEnvironment } from '../../registrations/store/relay-device-store.js';
import type { RelayTables } from '../../tables.js';
import type { Outcome } from '../policy/judge-answer.js';

const registeredSince: Outcome = { kind: 'rejected', reason: 'REGISTERED_SINCE', fault: 'vendor' };

/**
 * Applies an outcome to its device: expires a dead token, or stores the APNs environment that worked. Returns the final
 * outcome, which is not `gone` if the phone has registered the token again. `now` is in Unix milliseconds.
 */
export async function applyOutcome(
  db: Transaction<RelayTables>,
  device: RelayDeviceName,
  outcome: Outcome,
  now: number,
): Promise<Outcome> {
  if (outcome.kind === 'sent' && outcome.workedEnvironment !== undefined) {
    await setApnsEnvironment(db, device, outcome.workedEnvironment);
  }
  if (outcome.kind !== 'gone' || outcome.ifRegisteredBefore === undefined) return outcome;
  const { ifRegisteredBefore } = outcome;
  if (await markExpired(db, device, { at: now, ifRegisteredBefore })) return outcome;
  const row = await db
    .selectFrom('relay_devices')
    .select('expired_at')
    .where('id', '=', device.relayDeviceId)
    .where('realm_id', '=', device.realmId)
    .where('push_account_id', '=', device.addressee)
    .executeTakeFirst();
  return row === undefined || row.expired_at !== null ? outcome : registeredSince;
}
