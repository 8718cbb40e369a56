import { isJsonObject, type JsonObject } from './json.js';
import { type PushKeyId, parsePushKeyId } from './push-key.js';
import { parseTokenId, type TokenId } from './token-id.js';

/** Path of the server's operation that creates a device for a client. */
export const registerClientDevicePath = '/api/v1/register_client_device';
/** Path of the server's operation that deletes a device. */
export const removeClientDevicePath = '/api/v1/remove_client_device';

/** Id that the server assigns to a device of the newer generation. Unrelated to the relay's device ids. */
export type ClientDeviceId = number & { readonly brand: 'ClientDeviceId' };

/** One entry of `devices` in the response to `POST /register` (docs/protocol.md#device-events). */
export interface ClientDeviceOnWire {
  /** `null` until the phone has sent a key. */
  readonly push_key_id: PushKeyId | null;
  /** The token that the server sends notifications to; `null` if there is none. */
  readonly push_token_id: TokenId | null;
  /** The newest token if the relay has not accepted it yet or has refused it; otherwise `null`. */
  readonly pending_push_token_id: TokenId | null;
  /** When the phone last registered a token, in Unix seconds. */
  readonly push_token_last_updated_timestamp: number | null;
  /** Why the newest registration failed; `null` if it did not fail. */
  readonly push_registration_error_code: string | null;
}

/** A `device` event. An `update` contains only the fields that changed. */
export type ClientDeviceEvent =
  | { readonly type: 'device'; readonly op: 'add' | 'remove'; readonly device_id: ClientDeviceId }
  | ({
      readonly type: 'device';
      readonly op: 'update';
      readonly device_id: ClientDeviceId;
    } & Partial<ClientDeviceOnWire>);

const fieldParsers: {
  [Name in keyof ClientDeviceOnWire]: (value: unknown) => ClientDeviceOnWire[Name] | undefined;
} = {
  push_key_id: orNull(parsePushKeyId),
  push_token_id: orNull(parseTokenId),
  pending_push_token_id: orNull(parseTokenId),
  push_token_last_updated_timestamp: orNull((value) =>
    Number.isSafeInteger(value) ? (value as number) : undefined,
  ),
  push_registration_error_code: orNull((value) => (typeof value === 'string' ? value : undefined)),
};
const fieldNames = Object.keys(fieldParsers) as (keyof ClientDeviceOnWire)[];

/** Parses an untrusted device id. Returns `undefined` if it is not a non-negative integer. */
export function parseClientDeviceId(value: unknown): ClientDeviceId | undefined {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as ClientDeviceId) : undefined;
}

/**
 * Parses `devices` from the response that opens an event queue. The keys are decimal device ids. Returns `undefined` if
 * the value is invalid.
 */
export function parseClientDevices(value: unknown): ReadonlyMap<string, ClientDeviceOnWire> | undefined {
  if (!isJsonObject(value)) return undefined;
  const devices = new Map<string, ClientDeviceOnWire>();
  for (const [id, device] of Object.entries(value)) {
    const fields = isJsonObject(device) ? parseFields(device) : undefined;
    if (fields === undefined || fieldNames.some((name) => fields[name] === undefined)) return undefined;
    devices.set(id, fields as ClientDeviceOnWire);
  }
  return devices;
}

/** Parses a `device` event and drops unknown fields. Returns `undefined` if the event is invalid. */
export function parseClientDeviceEvent(value: unknown): ClientDeviceEvent | undefined {
  if (!isJsonObject(value) || value.type !== 'device') return undefined;
  const device_id = parseClientDeviceId(value.device_id);
  if (device_id === undefined) return undefined;
  const { type, op } = value;
  if (op === 'add' || op === 'remove') return { type, op, device_id };
  const fields = op === 'update' ? parseFields(value) : undefined;
  return fields && { type, op: 'update', device_id, ...fields };
}

/** Returns the known fields that are present, or `undefined` if one of them is invalid. */
function parseFields(from: JsonObject): Partial<ClientDeviceOnWire> | undefined {
  const fields: Record<string, unknown> = {};
  for (const name of fieldNames) {
    if (from[name] === undefined) continue;
    fields[name] = fieldParsers[name](from[name]);
    if (fields[name] === undefined) return undefined;
  }
  return fields;
}

function orNull<Value>(parse: (value: unknown) => Value | undefined) {
  return (value: unknown): Value | null | undefined => (value === null ? null : parse(value));
}
