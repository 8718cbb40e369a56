import type { JsonObject, PushAccountIdText, PushDeviceStatus } from '@waxwing/protocol';
import type { Selectable } from 'kysely';
import type { ServerPushTables } from '../tables.js';

export type PushDeviceRow = Selectable<ServerPushTables['push_devices']>;

/** Returns the status of a PushDevice's newest registration (docs/protocol.md#push_device-events). */
export function pushDeviceStatus(
  row: Pick<PushDeviceRow, 'error_code' | 'pending_token_kind'>,
): PushDeviceStatus {
  if (row.error_code !== null) return 'failed';
  return row.pending_token_kind === null ? 'active' : 'pending';
}

/** Returns the time when a PushDevice's newest registration was accepted, in Unix milliseconds. */
export function registeredAt(row: Pick<PushDeviceRow, 'registered_at' | 'changed_at'>): number {
  return row.registered_at ?? row.changed_at;
}

/**
 * Returns the event that reports an active or failed registration to the user's clients. `push_account_id` is a decimal
 * string.
 */
export function pushDeviceEvent(pushAccountId: PushAccountIdText, errorCode: string | undefined): JsonObject {
  const event = { type: 'push_device', push_account_id: pushAccountId };
  return errorCode === undefined
    ? { ...event, status: 'active' }
    : { ...event, status: 'failed', error_code: errorCode };
}
