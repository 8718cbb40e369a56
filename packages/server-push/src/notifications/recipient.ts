import type { DatabaseWithJobs } from '@waxwing/jobs';
import type { AnyPushRequest, ClientDeviceId, PushAccountId, WrittenPushRequest } from '@waxwing/protocol';
import type { Clock } from '@waxwing/service/lifecycle';
import type { Sodium } from '@waxwing/sodium';
import type { PublishEvents } from '../server-push-options.js';
import type { PushTransaction, ServerPushTables } from '../tables.js';
import type { NotificationContent } from './notification-content.js';

export interface RecipientOptions {
  readonly database: DatabaseWithJobs<ServerPushTables>;
  readonly publish: PublishEvents;
  readonly sodium: Sodium;
  readonly clock: Clock;
}

/** A filter for one device, by the kind of id that its generation uses. */
export interface OnlyDevice {
  readonly device_id?: ClientDeviceId | undefined;
  readonly push_account_id?: PushAccountId | undefined;
}

/** One device to notify: a PushDevice (older generation) or a ClientDevice (newer generation). */
export interface Recipient {
  /** The table and id of the device's row. */
  readonly row: { readonly table: 'push_devices' | 'client_devices'; readonly id: number };
  /** Identifies the device among the user's devices. */
  readonly only: OnlyDevice;
  /** Identifies the device in the relay's list of dead devices. Unique within a request. */
  readonly address: string;
  /** Encrypts an encoded notification for the device. Returns the device's entry in the relay's notify request. */
  seal(type: NotificationContent['type'], encoded: Uint8Array): WrittenPushRequest;
  /**
   * Drops a device that the relay no longer knows, and publishes an event. Does nothing if the phone has registered
   * again since.
   */
  drop(transaction: PushTransaction): Promise<void>;
}

/** Returns the name of a recipient's row, as written in job payloads. */
export function rowName({ row }: Pick<Recipient, 'row'>): string {
  return `${row.table} ${row.id}`;
}

/** Returns the address of the device in an entry of a notify request. */
export function addressOf(request: AnyPushRequest): string {
  return 'token_id' in request ? tokenAddress(request.token_id) : deviceAddress(request.device_id);
}

/** Returns the address of a device that the relay identifies by its `device_id`. */
export function deviceAddress(deviceId: number | bigint): string {
  return `device_id ${deviceId}`;
}

/** Returns the address of a device that the relay identifies by its token. */
export function tokenAddress(tokenId: string): string {
  return `token_id ${tokenId}`;
}
