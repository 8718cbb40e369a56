import { rebuildAps } from '#relay/deliveries/requests/read-push-request.js';
import { accountIdText, realmId, relayDeviceId } from '../../../support/ids.js';

/** Target of a test's APNs notification. */
export const target = {
  tokenKind: 'apns',
  token: '00',
  iosAppId: 'org.example.App',
  apnsEnvironment: 'sandbox',
} as const;
/** A notification for APNs, as the relay reads it from a request. */
export const notification = {
  serverId: '',
  realmId: realmId(1),
  realmUuid: '',
  relayDeviceId: relayDeviceId(1),
  notificationId: '7d3f5a58-52f0-4a4b-9d0b-0c6bb1b0ad0e',
  addressee: accountIdText(1),
  encryptedData: 'AAAA',
  urgency: { vendor: 'apns', priority: 10, pushType: 'alert', aps: rebuildAps({}) },
  receivedAt: 0,
  timeToLiveSeconds: 60,
  collapseId: 'news',
} as const;
