import type { ClientDeviceEvent, ClientDeviceId, ClientDeviceOnWire, UserId } from '@waxwing/protocol';
import { unixSeconds } from '@waxwing/service/lifecycle';
import type { Selectable } from 'kysely';
import type { AddressedEvent } from '../server-push-options.js';
import type { ServerPushTables } from '../tables.js';

export type ClientDeviceRow = Selectable<ServerPushTables['client_devices']>;

/** The columns that clients see. */
export type SeenColumns = Pick<
  ClientDeviceRow,
  | 'push_key_id'
  | 'push_token_id'
  | 'pending_push_token_id'
  | 'push_token_updated_at'
  | 'push_registration_error_code'
>;

/** The id and the owner of a device. */
export interface OwnedDevice {
  readonly id: ClientDeviceId;
  readonly user_id: UserId;
}

/** Converts a device to its format in the response to `POST /register` (docs/protocol.md#device-events). */
export function clientDeviceOnWire(row: SeenColumns): ClientDeviceOnWire {
  return {
    push_key_id: row.push_key_id,
    push_token_id: row.push_token_id,
    pending_push_token_id: row.pending_push_token_id,
    push_token_last_updated_timestamp: toSeconds(row.push_token_updated_at),
    push_registration_error_code: row.push_registration_error_code,
  };
}

/** Returns the event that reports a created or deleted device to its user's clients. */
export function deviceEvent(op: 'add' | 'remove', device: OwnedDevice): AddressedEvent {
  const event: ClientDeviceEvent = { type: 'device', op, device_id: device.id };
  return { event, audience: [device.user_id] };
}

/** Returns the event that reports a changed device. The event contains exactly the fields of `changed`. */
export function deviceUpdate(device: OwnedDevice, changed: Partial<SeenColumns>): AddressedEvent {
  const { push_token_updated_at: updatedAt, ...fields } = changed;
  const event: ClientDeviceEvent = {
    type: 'device',
    op: 'update',
    device_id: device.id,
    ...fields,
    ...(updatedAt !== undefined && { push_token_last_updated_timestamp: toSeconds(updatedAt) }),
  };
  return { event: { ...event }, audience: [device.user_id] };
}

function toSeconds(milliseconds: number | null): number | null {
  return milliseconds === null ? null : unixSeconds(milliseconds);
}
