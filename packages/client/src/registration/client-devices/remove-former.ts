import { type ClientDeviceId, formatPushAccountId } from '@waxwing/protocol/phone';
import { isFinal } from '../is-final.js';
import { type DeviceSync, deviceOf, type OwnDevice } from './device-sync.js';
import { findDuplicates } from './find-devices.js';

/** The lowest feature level at which servers can remove devices. */
const firstLevelOfRemoval = 470;

/**
 * Removes everything that the active device replaces: the account's registration of the older generation, and this
 * phone's other devices. Otherwise each notification would arrive twice. A failed removal is retried in the next sync.
 */
export async function removeFormer(sync: DeviceSync, own: OwnDevice): Promise<void> {
  const { states, tokenId, forgotten } = sync;
  await leavePushAccount(sync);
  const devices = { all: states.all, device: deviceOf(sync), tokenId, forgotten };
  for (const id of findDuplicates(devices, own.deviceId)) await removeQuietly(sync, id);
}

/** Removes the registration of the older generation. Keeps the key pair, because pushes in flight are sealed to it. */
async function leavePushAccount(sync: DeviceSync): Promise<void> {
  const { api, accounts, clock } = sync.context;
  const { registration, ...account } = sync.account;
  const { pushAccountId, sequence, device } = account;
  if (sync.run.queue.pushDevices.has(formatPushAccountId(pushAccountId))) {
    if (!(await isFinal(api.unregisterPushDevice(pushAccountId)))) return;
  }
  const wasRegistered = registration !== undefined || sequence !== undefined;
  if (!wasRegistered || device === undefined || device.keyPairUnusedSince !== undefined) return;
  sync.account = { ...account, device: { ...device, keyPairUnusedSince: clock() } };
  await accounts.put(sync.account);
}

/** Removes a device if the server supports it. Ignores failures. */
export async function removeQuietly(sync: DeviceSync, deviceId: ClientDeviceId): Promise<void> {
  if ((sync.run.queue.featureLevel ?? 0) < firstLevelOfRemoval) return;
  if (await isFinal(sync.context.api.removeClientDevice(deviceId))) sync.states.remove(deviceId);
}
