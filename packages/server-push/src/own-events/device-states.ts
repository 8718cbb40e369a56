import { createHash } from 'node:crypto';
import type { ClientDeviceOnWire, JsonObject, PushDeviceStateOnWire, UserId } from '@waxwing/protocol';
import { clientDevicesOf } from '../client-devices/client-device-store.js';
import { pushDevicesOf } from '../push-devices/push-device-store.js';
import type { ServerPushOptions } from '../server-push-options.js';

/** A user's registrations, in the format of the response to `POST /register`. */
export interface DeviceStates {
  readonly push_devices: Readonly<Record<string, PushDeviceStateOnWire>>;
  readonly devices: Readonly<Record<string, ClientDeviceOnWire>>;
}

/** An event as clients receive it. */
export type NumberedEvent = JsonObject & { readonly id: number; readonly type: string };

const digestBytes = 3;
const digestValues = 256 ** digestBytes;

export async function readDeviceStates(
  { database: { db } }: Pick<ServerPushOptions, 'database'>,
  userId: UserId,
): Promise<DeviceStates> {
  return { push_devices: await pushDevicesOf(db, userId), devices: await clientDevicesOf(db, userId) };
}

// There are no event queues. Instead, the id of an event contains a digest of the user's state after the event. A
// client can therefore poll any process, and misses no change between two polls.

/** Returns the `last_event_id` of a client that has this state. */
export function firstEventId(states: DeviceStates): number {
  return digestOf(states);
}

/** Whether a client whose last event has this id is in this state. */
export function hasState(lastEventId: number, states: DeviceStates): boolean {
  return lastEventId % digestValues === digestOf(states);
}

/**
 * Returns the events that bring a client up to this state. Removed devices get no events. If the client is up to date,
 * returns one heartbeat.
 */
export function eventsTo(states: DeviceStates, lastEventId: number): NumberedEvent[] {
  const events: (JsonObject & { readonly type: string })[] = hasState(lastEventId, states)
    ? []
    : [...pushDeviceEvents(states), ...clientDeviceEvents(states)];
  const round = Math.floor(Math.max(0, lastEventId) / digestValues) + 1;
  const heartbeat = { type: 'heartbeat' };
  return (events.length > 0 ? events : [heartbeat]).map((event, index) => ({
    ...event,
    id: (round + index) * digestValues + digestOf(states),
  }));
}

function pushDeviceEvents({ push_devices: devices }: DeviceStates) {
  return Object.entries(devices).map(([push_account_id, { status, error_code }]) => ({
    type: 'push_device',
    push_account_id,
    status,
    ...(error_code === null ? {} : { error_code }),
  }));
}

function clientDeviceEvents({ devices }: DeviceStates) {
  return Object.entries(devices).flatMap(([id, fields]) => [
    { type: 'device', op: 'add', device_id: Number(id) },
    { type: 'device', op: 'update', device_id: Number(id), ...fields },
  ]);
}

function digestOf({ push_devices, devices }: DeviceStates): number {
  const sorted = [push_devices, devices].map((some) =>
    Object.entries(some).sort(([a], [b]) => (a < b ? -1 : 1)),
  );
  return createHash('sha256').update(JSON.stringify(sorted)).digest().readUIntBE(0, digestBytes);
}
