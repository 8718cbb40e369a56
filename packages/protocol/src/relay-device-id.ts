import { z } from 'zod';

/** Id that the relay assigns to one app install in one realm. Servers use it to notify or remove the device. */
export type RelayDeviceId = number & z.core.$brand<'RelayDeviceId'>;

/** Zod schema of a device id: a non-negative safe integer. */
export const relayDeviceId = z.number().int().nonnegative().brand<'RelayDeviceId'>();
