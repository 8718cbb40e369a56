import type { ClientDeviceId } from '@waxwing/protocol/phone';
import { noDevice } from '../../accounts/account-device.js';
import { webOriginOf } from '../../web-origin.js';
import type { RegistrarContext } from '../registrar-context.js';
import { type DeviceSync, deviceOf, type OwnDevice, storeDevice } from './device-sync.js';
import { findOwnDevice } from './find-devices.js';
import { addPushKey } from './push-keys.js';
import { removeQuietly } from './remove-former.js';

/** Finds this phone's device on the server, and stores its id if it has changed. */
export async function findStoredDevice(sync: DeviceSync): Promise<OwnDevice | undefined> {
  const { states, tokenId, forgotten } = sync;
  const device = deviceOf(sync);
  const deviceId = findOwnDevice({ all: states.all, device, tokenId, forgotten });
  const state = deviceId === undefined ? undefined : states.all.get(deviceId);
  if (deviceId === undefined || state === undefined) return undefined;
  if (deviceId !== device.deviceId) {
    await releaseDevice(sync, { deviceId, state });
    await storeDevice(sync, { ...device, deviceId });
  }
  return { deviceId, state };
}

/**
 * Takes over a device from another account on this phone: the same user's account under the server's former URL.
 * Without this step, signing out of the former account would remove the device. Identifies the device by its key,
 * because device ids are unique only within a server.
 */
async function releaseDevice({ account, context }: DeviceSync, { state }: OwnDevice): Promise<void> {
  for (const row of await context.accounts.list()) {
    const { deviceId: _deviceId, ...device } = row.device ?? noDevice;
    const hasKey = device.pushKeys.some(({ pushKeyId }) => pushKeyId === state.push_key_id);
    if (hasKey && row.pushAccountId !== account.pushAccountId) await context.accounts.put({ ...row, device });
  }
}

/**
 * Creates a device on the server. If there is a stuck device, the new device replaces it. The stuck device is removed
 * immediately, unless its former token may still work. In that case, it is removed once the new device is active.
 *
 * If the server has dropped the former device, the new device gets a new key: the relay may reject notifications for
 * the former key for a minute (docs/protocol.md#remotespushe2eeremove).
 */
export async function createDevice(sync: DeviceSync, stuck: OwnDevice | undefined): Promise<void> {
  sync.requests += 1;
  const isDropped = stuck === undefined && deviceOf(sync).deviceId !== undefined;
  const deviceId = await sync.context.api.registerClientDevice();
  sync.states.add(deviceId);
  await storeDevice(sync, { ...deviceOf(sync), deviceId });
  // Adds the key only after the server has responded. Otherwise keys would pile up while the server cannot be reached.
  if (isDropped) sync.account = await addPushKey(sync.context, sync.account);
  if (stuck?.state.push_token_id === null) await removeQuietly(sync, stuck.deviceId);
}

/** Finds the devices of accounts that signed out of this server, if the server has not been notified yet. */
export async function findForgottenDevices({
  forgotten,
  identity,
}: RegistrarContext): Promise<ReadonlySet<ClientDeviceId>> {
  const origin = webOriginOf(identity.realmUrl);
  const ofServer = (await forgotten.list()).filter(({ realmUrl }) => webOriginOf(realmUrl) === origin);
  return new Set(ofServer.flatMap(({ deviceId }) => deviceId ?? []));
}
