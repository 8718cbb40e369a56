import { z } from 'zod';

/** The relay's number for one install of an app in one realm: servers name it when they notify, or have it forgotten. */
export type RelayDeviceId = number & z.core.$brand<'RelayDeviceId'>;

export const relayDeviceId = z.number().int().nonnegative().brand<'RelayDeviceId'>();
