export * from './create-server-push.js';
export { encodeNotification, maximumRealmUrlBytes } from './notifications/encode-notification.js';
export type * from './notifications/notification-content.js';
export { sealNotification } from './notifications/seal-notification.js';
export { serverPushOperations } from './operations.js';
export { removePushDevicesOf } from './push-devices/remove-relay-devices.js';
export { type RelayLinkStatus, readRelayLinkStatus } from './relay-link/link-monitor.js';
export type * from './server-push-options.js';
export { type ServerPushTables, serverPushMigrations } from './tables.js';
