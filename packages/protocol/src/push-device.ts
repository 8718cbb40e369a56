import { isJsonObject, type JsonObject } from './json.js';
import { type PushAccountId, parsePushAccountId } from './push-account-id.js';

/** Path of the server's operations that register and delete a PushDevice. */
export const registerPushDevicePath = '/api/v1/mobile_push/register';
/** Path of the server's operation that sends a test notification. */
export const testNotificationPath = '/api/v1/mobile_push/e2ee/test_notification';

/**
 * State of a device's newest registration. `pending`: the relay has not decided yet. `active`: the relay accepted it.
 * `failed`: the relay refused it, or it expired.
 */
export type PushDeviceStatus = 'pending' | 'active' | 'failed';

/** Event that reports the outcome of a registration to the user's clients (docs/protocol.md#push_device-events). */
export interface PushDeviceEvent {
  readonly type: 'push_device';
  readonly push_account_id: PushAccountId;
  readonly status: PushDeviceStatus;
  readonly error_code?: string;
}

/** Parses the event from JSON and drops unknown fields. Returns `undefined` if the event is invalid. */
export function parsePushDeviceEvent(value: unknown): PushDeviceEvent | undefined {
  if (!isJsonObject(value)) return undefined;
  const { type, status, error_code } = value;
  const push_account_id = parsePushAccountId(value.push_account_id);
  if (type !== 'push_device' || push_account_id === undefined || !isPushDeviceStatus(status))
    return undefined;
  if (error_code === undefined) return { type, push_account_id, status };
  return typeof error_code === 'string' ? { type, push_account_id, status, error_code } : undefined;
}

/** One entry of `push_devices` in the response to `POST /register`, which opens an event queue. */
export interface PushDeviceStateOnWire {
  readonly status: PushDeviceStatus;
  readonly error_code: string | null;
}

/**
 * Parses `push_devices` from the response that opens an event queue. The keys are decimal push account ids. Returns
 * `undefined` if the value is invalid.
 */
export function parsePushDevices(value: unknown): ReadonlyMap<string, PushDeviceStateOnWire> | undefined {
  if (!isJsonObject(value)) return undefined;
  const devices = new Map<string, PushDeviceStateOnWire>();
  for (const [id, device] of Object.entries(value)) {
    const state = isJsonObject(device) ? parseState(device) : undefined;
    if (state === undefined) return undefined;
    devices.set(id, state);
  }
  return devices;
}

function parseState({ status, error_code }: JsonObject): PushDeviceStateOnWire | undefined {
  if (!isPushDeviceStatus(status) || (error_code !== null && typeof error_code !== 'string'))
    return undefined;
  return { status, error_code };
}

function isPushDeviceStatus(value: unknown): value is PushDeviceStatus {
  return value === 'pending' || value === 'active' || value === 'failed';
}
