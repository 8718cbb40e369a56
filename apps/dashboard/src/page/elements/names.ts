import type { Vendor } from '../api/answers.js';

export const vendorNames: Readonly<Record<Vendor, string>> = {
  fcm: 'Google (FCM)',
  apns: 'Apple (APNs)',
  webpush: 'Web Push',
};
