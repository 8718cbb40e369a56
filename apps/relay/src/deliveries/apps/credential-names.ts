import type { ApnsApp } from '../vendors/apns/app.js';
import type { FcmApp } from '../vendors/fcm/app.js';
import type { WebPushApp } from '../vendors/webpush/app.js';

export type App = FcmApp | ApnsApp | WebPushApp;

/** Returns a lookup key for an app's sender. Apps with the same credential and sender settings have the same lookup key. */
export function identify(app: App, ca: string | string[] | undefined): string {
  switch (app.vendor) {
    case 'apns':
      return `apns ${app.fingerprint} ${app.hasFilteringEntitlement} ${ca}`;
    case 'fcm':
      return `fcm ${app.projectId} ${app.addressBy} ${app.usesAndroidV2} ${app.fingerprint} ${ca}`;
    case 'webpush':
      return `webpush ${app.name} ${app.contact} ${app.hosts} ${ca}`;
  }
}

/** Returns a human-readable name of the credential and its file. */
export function describeCredential(app: App): string {
  switch (app.vendor) {
    case 'apns':
      return `the APNs key ${app.keyId} of team ${app.teamId} (${app.keyFile})`;
    case 'fcm':
      return `the service account of Firebase project ${app.projectId} (${app.serviceAccountFile})`;
    case 'webpush':
      return `the VAPID key of the Web Push app ${app.name}`;
  }
}
