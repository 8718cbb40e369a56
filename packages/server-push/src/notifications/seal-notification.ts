import {
  type ApnsPushRequest,
  decodePublicKey,
  encodeBase64,
  type JsonObject,
  type PushAccountId,
  type WrittenPushRequest,
} from '@waxwing/protocol';
import type { Sodium } from '@waxwing/sodium';
import type { ActivePushDevice } from '../push-devices/push-device-store.js';
import type { NotificationContent } from './notification-content.js';

type ApnsShape = Pick<ApnsPushRequest, 'http_headers'> & { readonly aps: JsonObject };

// APNs headers and payload of each type, as stock servers send them (docs/protocol.md#remotespushe2eenotify). They omit
// `content-available`, without which iOS wakes no app.
const alert: ApnsShape = {
  http_headers: { apns_priority: 10, apns_push_type: 'alert' },
  aps: { 'mutable-content': 1, alert: { title: 'New notification' }, sound: 'default' },
};
const background: ApnsShape = {
  http_headers: { apns_priority: 5, apns_push_type: 'background' },
  aps: { 'content-available': 1, 'mutable-content': 1 },
};

/**
 * Seals an encoded notification (`encodeNotification`) for one device. Returns an entry of the relay's notify request
 * (docs/protocol.md#remotespushe2eenotify).
 *
 * @throws TypeError if the stored `push_public_key` is not a public key.
 */
export function sealNotification(
  sodium: Sodium,
  device: Pick<ActivePushDevice, 'pushAccountId' | 'pushPublicKey' | 'relayDeviceId' | 'tokenKind'>,
  type: NotificationContent['type'],
  encoded: Uint8Array,
): WrittenPushRequest {
  const publicKey = decodePublicKey(device.pushPublicKey);
  if (publicKey === undefined) throw new TypeError('the stored push_public_key is not a public key');
  const push_account_id = BigInt(device.pushAccountId) as PushAccountId;
  const encrypted_data = encodeBase64(sodium.seal(encoded, publicKey));
  if (device.tokenKind === 'fcm') {
    return {
      device_id: device.relayDeviceId,
      fcm_priority: type === 'remove' ? 'normal' : 'high',
      payload: { push_account_id, encrypted_data },
    };
  }
  const { http_headers, aps } = type === 'remove' ? background : alert;
  return {
    device_id: device.relayDeviceId,
    http_headers,
    payload: { push_account_id, encrypted_data, aps },
  };
}
