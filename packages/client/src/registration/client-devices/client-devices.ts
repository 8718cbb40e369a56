import type { RegistrationGeneration } from '../generation.js';
import { bringUpToDate } from './bring-up-to-date.js';

/** The newer generation: the server assigns the phone a device id, and the phone sends push keys that it rotates. */
export const clientDevices: RegistrationGeneration = {
  bringUpToDate,
  mayBeKnown: ({ device }) => device?.deviceId !== undefined,
  requestTest: (api, { device, pushAccountId }) =>
    api.sendTestNotification(device?.deviceId ?? pushAccountId),
  async remove(api, { deviceId }) {
    if (deviceId !== undefined) await api.removeClientDevice(deviceId);
  },
};
