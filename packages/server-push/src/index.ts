export type { UserId } from '@waxwing/protocol';
export { raiseClientDeviceIds } from './client-devices/raise-client-device-ids.js';
export * from './create-server-push.js';
export { serverPush } from './fastify-plugin.js';
export * from './foundation.js';
export type { HostActor, MountOptions } from './mount-options.js';
export { type RunningPush, type StartOptions, startServerPush } from './mounting/start-server-push.js';
export { readReport } from './notifications/delivery-reports.js';
export { type CountedResult, countResults, describeResults } from './notifications/describe-results.js';
export { encodeNotification } from './notifications/encode-notification.js';
export type * from './notifications/notification-content.js';
export { type NotificationReach, notificationReach } from './notifications/notification-reach.js';
export { sealNotification } from './notifications/seal-notification.js';
export { findUserWithDevice, type SentTest, sendTest } from './notifications/send-test.js';
export * from './open-push-database.js';
export { serverPushOperations } from './operations.js';
export * from './own-events/state-shapes.js';
export { allPushJobKinds } from './push-job-kinds.js';
export { PushAccountError } from './relay-account/account-errors.js';
export type { ConfiguredRelay } from './relay-account/account-link.js';
export {
  allAccounts,
  disableAccount,
  enabledAccount,
  forgetAccounts,
  relayAccountChannel,
} from './relay-account/account-store.js';
export * from './relay-account/enable-relay.js';
export { type RelayLinkStatus, readRelayLinkStatus } from './relay-link/link-monitor.js';
export type { RealmPushStatus, RealmPushStatusChange } from './relay-link/realm-push-status.js';
export { removePushDevicesOf } from './remove-devices-of.js';
export type * from './server-push-options.js';
export { findRelayAccount } from './settings/find-relay-account.js';
export { readRelayKey } from './settings/read-relay-key.js';
export { RelayAccountWatch } from './settings/relay-account-watch.js';
export { checkConfiguredPush } from './status/check-configured-push.js';
export { checkPush } from './status/check-push.js';
export { countDevices, type DeviceCounts } from './status/count-devices.js';
export { failed, type PushCheck, passed } from './status/push-check.js';
