import type { ClientDeviceId, ClientDeviceOnWire, TokenId } from '@waxwing/protocol/phone';
import type { AccountDevice } from '../../accounts/account-device.js';
import { tokenIdOf } from './token-id-of.js';

export interface DevicesOfUser {
  readonly all: ReadonlyMap<ClientDeviceId, ClientDeviceOnWire>;
  /** The device that the phone has stored. */
  readonly device: AccountDevice;
  readonly tokenId: TokenId;
  /** Devices of signed-out accounts whose server has not been notified of the sign-out yet. */
  readonly forgotten: ReadonlySet<ClientDeviceId>;
}

/**
 * Finds this phone's device among the user's devices. This is the stored device or, if the store was lost, a device
 * with the phone's token. Returns `undefined` if the server has no such device.
 */
export function findOwnDevice(devices: DevicesOfUser): ClientDeviceId | undefined {
  const { deviceId } = devices.device;
  const stored = deviceId === undefined ? undefined : devices.all.get(deviceId);
  if (deviceId !== undefined && stored !== undefined && isOwn(devices, deviceId, stored)) return deviceId;
  const [adopted] = [...devices.all].find(
    ([id, state]) => !devices.forgotten.has(id) && hasToken(state, devices.tokenId),
  ) ?? [undefined];
  return adopted;
}

/**
 * Returns whether a device belongs to this phone. A server that was restored from a backup can reuse an id. The device
 * then has the key and token of another of the user's phones. If the phone was restored from a backup, the device still
 * has this phone's token.
 */
function isOwn({ device, tokenId, forgotten }: DevicesOfUser, id: ClientDeviceId, state: ClientDeviceOnWire) {
  if (forgotten.has(id)) return false;
  const sent = device.sent && tokenIdOf(device.sent.pushToken);
  return (
    state.push_key_id === null ||
    hasKey(state, device) ||
    hasToken(state, tokenId) ||
    (sent !== undefined && hasToken(state, sent))
  );
}

/** Finds other devices that represent this phone. Unless they are removed, each notification arrives several times. */
export function findDuplicates(devices: DevicesOfUser, own: ClientDeviceId): readonly ClientDeviceId[] {
  const isDuplicate = ([id, state]: readonly [ClientDeviceId, ClientDeviceOnWire]) =>
    id !== own && (hasKey(state, devices.device) || hasToken(state, devices.tokenId));
  return [...devices.all].filter(isDuplicate).map(([id]) => id);
}

function hasKey({ push_key_id: id }: ClientDeviceOnWire, { pushKeys }: AccountDevice): boolean {
  return pushKeys.some(({ pushKeyId }) => pushKeyId === id);
}

function hasToken(state: ClientDeviceOnWire, tokenId: TokenId): boolean {
  return state.push_token_id === tokenId || state.pending_push_token_id === tokenId;
}
