import type { RelayDevice } from '../registrations/relay-device.js';
import type { Notification } from './delivery.js';

/** Whether a notification was written for the vendor that issued the device's token. */
export function isOfKind({ target }: RelayDevice, { urgency }: Notification): boolean {
  return target.tokenKind === urgency.vendor;
}
