import {
  type ApnsPushRequest,
  decodePublicKey,
  decodePushKey,
  encodeBase64,
  type JsonObject,
  type PushAccountId,
  type PushRequest,
  type WrittenPushRequest,
} from '@waxwing/protocol';
import type { Sodium } from '@waxwing/sodium';
import { secretBoxNonceBytes } from '@waxwing/sodium/byte-sizes';
import type { ActiveClientDevice } from '../client-devices/client-device-store.js';
import type { ActivePushDevice } from '../push-devices/push-device-store.js';
import type { NotificationContent } from './notification-content.js';

type ApnsShape = Pick<ApnsPushRequest, 'http_headers'> & { readonly aps: JsonObject };

// APNs headers and payload of each type (docs/protocol.md#remotespushe2eenotify). They differ from those of stock
// servers only in `content-available`. Without it, iOS does not wake the app for a removal.
const alert: ApnsShape = {
  http_headers: { apns_priority: 10, apns_push_type: 'alert' },
  aps: { 'mutable-content': 1, alert: { title: 'New notification' }, sound: 'default' },
};
const background: ApnsShape = {
  http_headers: { apns_priority: 5, apns_push_type: 'background' },
  aps: { 'content-available': 1, 'mutable-content': 1 },
};

type Envelope =
  | { readonly http_headers: ApnsShape['http_headers']; readonly aps: JsonObject }
  | { readonly fcm_priority: 'high' | 'normal' };

/** Returns the delivery options for the vendor. Unknown token kinds get the options for FCM. */
function envelopeOf(tokenKind: string | null, type: NotificationContent['type']): Envelope {
  if (tokenKind === 'apns') return type === 'remove' ? background : alert;
  return { fcm_priority: type === 'remove' ? 'normal' : 'high' };
}

/** Builds an entry from a payload and an envelope. `aps` belongs to the payload. */
function entryOf<Name extends object, Payload extends object>(
  name: Name,
  payload: Payload,
  envelope: Envelope,
) {
  if (!('aps' in envelope)) return { ...name, ...envelope, payload };
  const { aps, http_headers } = envelope;
  return { ...name, http_headers, payload: { ...payload, aps } };
}

/**
 * Seals an encoded notification (`encodeNotification`) for one older-generation device. Returns an entry for the
 * relay's notify request (docs/protocol.md#remotespushe2eenotify).
 *
 * @throws TypeError if the stored `push_public_key` is not a public key.
 */
export function sealNotification(
  sodium: Sodium,
  device: Pick<ActivePushDevice, 'pushAccountId' | 'pushPublicKey' | 'relayDeviceId' | 'tokenKind'>,
  type: NotificationContent['type'],
  encoded: Uint8Array,
): PushRequest & JsonObject {
  const publicKey = decodePublicKey(device.pushPublicKey);
  if (publicKey === undefined) throw new TypeError('the stored push_public_key is not a public key');
  const push_account_id = BigInt(device.pushAccountId) as PushAccountId;
  const encrypted_data = encodeBase64(sodium.seal(encoded, publicKey));
  const name = { device_id: device.relayDeviceId };
  return entryOf(name, { push_account_id, encrypted_data }, envelopeOf(device.tokenKind, type));
}

/**
 * Seals an encoded notification for one newer-generation device with the device's secret key. `encrypted_data` is the
 * base64 encoding of a random nonce followed by the secret box.
 *
 * @throws TypeError if the stored `push_key` is not a push key.
 */
export function sealForKey(
  sodium: Sodium,
  device: Pick<ActiveClientDevice, 'push_key' | 'push_key_id' | 'push_token_id' | 'push_token_kind'>,
  type: NotificationContent['type'],
  encoded: Uint8Array,
): WrittenPushRequest {
  const key = decodePushKey(device.push_key);
  if (key === undefined) throw new TypeError('the stored push_key is not a push key');
  const nonce = sodium.randomBytes(secretBoxNonceBytes);
  const encrypted_data = encodeBase64(Buffer.concat([nonce, sodium.sealSecretBox(encoded, nonce, key)]));
  const name = { token_id: device.push_token_id };
  const payload = { push_key_id: device.push_key_id, encrypted_data };
  return entryOf(name, payload, envelopeOf(device.push_token_kind, type));
}
