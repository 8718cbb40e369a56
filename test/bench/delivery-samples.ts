import type { Delivery } from '#relay/deliveries/delivery.js';
import { rebuildAps } from '#relay/deliveries/requests/read-push-request.js';
import { accountIdText, realmId, relayDeviceId } from '../support/ids.js';

export const topic = 'org.example.App';
export const encryptedData = Buffer.alloc(748, 7).toString('base64');

/** Returns a unique token for each index, in the format of Apple's tokens. */
export function apnsToken(index: number): string {
  return index.toString(16).padStart(64, '0');
}

/** Returns a delivery of realistic size to one phone, as input for a vendor's sender. */
export function sampleDelivery(vendor: 'fcm' | 'apns', index: number): Delivery {
  const now = Date.now();
  return {
    notification: {
      serverId: '6cde5f7a-1f7e-4978-9716-49f69ebfc9fe',
      realmId: realmId(1),
      realmUuid: '9aa61d0b-8ce5-488d-8e9e-fedc346e6836',
      relayDeviceId: relayDeviceId(index),
      notificationId: `00000000-0000-4000-8000-${index.toString(16).padStart(12, '0')}`,
      addressee: accountIdText('4611686018427387904'),
      encryptedData,
      urgency:
        vendor === 'fcm'
          ? { vendor, priority: 'high' }
          : {
              vendor,
              priority: 10,
              pushType: 'alert',
              aps: rebuildAps({ alert: {}, 'mutable-content': 1, sound: 'default' }),
            },
      receivedAt: now,
      timeToLiveSeconds: 86_400,
      collapseId: undefined,
    },
    device: {
      id: relayDeviceId(index),
      realmId: realmId(1),
      registeredAt: now - 1000,
      expiredAt: undefined,
      target:
        vendor === 'fcm'
          ? { tokenKind: 'fcm', token: `fcm-${index}` }
          : { tokenKind: 'apns', token: apnsToken(index), iosAppId: topic, apnsEnvironment: 'production' },
    },
  };
}
