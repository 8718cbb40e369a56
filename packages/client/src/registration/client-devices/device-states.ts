import {
  type ClientDeviceEvent,
  type ClientDeviceId,
  type ClientDeviceOnWire,
  parseClientDeviceId,
} from '@waxwing/protocol/phone';
import { createEventReader, type EventReaderOptions } from '../event-reader.js';
import type { SyncRun } from '../sync-run.js';

/** The user's devices on the server, kept up to date by events. */
export interface DeviceStates {
  readonly all: ReadonlyMap<ClientDeviceId, ClientDeviceOnWire>;
  /** Records a device that the server has just created. */
  add(deviceId: ClientDeviceId): void;
  /** Records fields that the server has just accepted, before their event arrives. */
  change(deviceId: ClientDeviceId, fields: Partial<ClientDeviceOnWire>): void;
  /** Records a device that the server has just removed. */
  remove(deviceId: ClientDeviceId): void;
  /** Waits for the next events and applies them. Returns `false` if none arrive before the deadline. */
  next(): Promise<boolean>;
}

const newDevice: ClientDeviceOnWire = {
  push_key_id: null,
  push_token_id: null,
  pending_push_token_id: null,
  push_token_last_updated_timestamp: null,
  push_registration_error_code: null,
};

export function createDeviceStates(options: EventReaderOptions & Pick<SyncRun, 'queue'>): DeviceStates {
  const readEvents = createEventReader(options);
  const all = new Map<ClientDeviceId, ClientDeviceOnWire>();
  for (const [id, device] of options.queue.clientDevices) {
    const deviceId = parseClientDeviceId(Number(id));
    if (deviceId !== undefined) all.set(deviceId, device);
  }

  function add(deviceId: ClientDeviceId): void {
    // The device's event may arrive after the phone has already sent changes to it.
    if (!all.has(deviceId)) all.set(deviceId, newDevice);
  }
  function change(deviceId: ClientDeviceId, fields: Partial<ClientDeviceOnWire>): void {
    const device = all.get(deviceId);
    // `null` sets a field to null. An absent field stays unchanged.
    if (device !== undefined) all.set(deviceId, { ...device, ...fields });
  }
  function apply(event: ClientDeviceEvent): void {
    if (event.op === 'add') add(event.device_id);
    else if (event.op === 'remove') all.delete(event.device_id);
    else {
      const { type: _type, op: _op, device_id: deviceId, ...fields } = event;
      change(deviceId, fields);
    }
  }

  return {
    all,
    add,
    change,
    remove: (deviceId) => void all.delete(deviceId),
    async next() {
      const events = await readEvents();
      for (const { clientDevice } of events ?? []) if (clientDevice !== undefined) apply(clientDevice);
      return events !== undefined;
    },
  };
}
