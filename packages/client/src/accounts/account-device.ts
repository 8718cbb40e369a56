import type { ClientDeviceId, PushKeyId } from '@waxwing/protocol/phone';
import type { SentRegistration } from './sent-registration.js';

/** A symmetric key that encrypts notifications of the newer generation. */
export interface PushKey {
  /** Random, and unique across all accounts on the phone. Every push sealed with this key contains the id. */
  readonly pushKeyId: PushKeyId;
  /** 32 bytes. */
  readonly key: Uint8Array;
  /** Unix milliseconds according to the device's clock, like `supersededAt`. */
  readonly createdAt: number;
  /** When the server acknowledged a newer key. Absent for the key in use and for keys that have not been sent yet. */
  readonly supersededAt?: number;
}

/** An account's registration with a server of the newer generation. Contains secret keys. */
export interface AccountDevice {
  /** Id that the server assigned to this phone; absent until then. */
  readonly deviceId?: ClientDeviceId;
  /** Oldest first. */
  readonly pushKeys: readonly PushKey[];
  /** The last token registration that the server accepted. */
  readonly sent?: SentRegistration;
  /**
   * When the account's registration of the older generation was removed, in Unix milliseconds according to the device's
   * clock. The account's key pair is kept for another 30 days to open pushes in flight, and is then replaced.
   */
  readonly keyPairUnusedSince?: number;
}

export const noDevice: AccountDevice = { pushKeys: [] };

/**
 * Merges the devices from two rows of the same account. Keeps the first row's device id and the keys from both rows.
 */
export function mergeDevices(kept: AccountDevice, dropped: AccountDevice): AccountDevice {
  const deviceId = kept.deviceId ?? dropped.deviceId;
  const sent = kept.deviceId === undefined ? dropped.sent : kept.sent;
  const known = new Set(kept.pushKeys.map(({ pushKeyId }) => pushKeyId));
  const others = dropped.pushKeys.filter(({ pushKeyId }) => !known.has(pushKeyId));
  return {
    pushKeys: [...kept.pushKeys, ...others].sort((one, other) => one.createdAt - other.createdAt),
    ...(deviceId === undefined ? {} : { deviceId }),
    ...(sent === undefined ? {} : { sent }),
    ...(kept.keyPairUnusedSince === undefined ? {} : { keyPairUnusedSince: kept.keyPairUnusedSince }),
  };
}
