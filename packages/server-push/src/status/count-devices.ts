import { type Kysely, sql } from 'kysely';
import type { ServerPushTables } from '../tables.js';

/**
 * Device counts for one token kind, by state. An active device with a new registration in progress counts as both
 * active and pending.
 */
export interface DeviceCounts {
  /** `fcm`, `apns` or a later kind; empty for a device without a token. */
  readonly kind: string;
  readonly active: number;
  readonly pending: number;
  readonly failed: number;
}

/** Counts the organization's devices of both generations by token kind, sorted by kind. Reads all devices. */
export async function countDevices(db: Kysely<ServerPushTables>): Promise<DeviceCounts[]> {
  const { rows } = await sql<Record<keyof DeviceCounts, string>>`
    select kind, sum(active) as active, sum(pending) as pending, sum(failed) as failed from (
      select coalesce(token_kind, pending_token_kind, '') as kind, count(relay_device_id) as active,
        count(pending_token_kind) as pending, count(error_code) as failed
      from push_devices group by 1
      union all
      select coalesce(push_token_kind, pending_push_token_kind, ''), count(push_token_id),
        count(pending_encrypted_registration), count(push_registration_error_code)
      from client_devices group by 1
    ) as counted group by kind order by kind`.execute(db);
  return rows.map(({ kind, active, pending, failed }) => ({
    kind,
    active: Number(active),
    pending: Number(pending),
    failed: Number(failed),
  }));
}
