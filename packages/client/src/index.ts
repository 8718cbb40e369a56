export type { AccountDevice, PushKey } from './accounts/account-device.js';
export type { Random } from './accounts/create-push-account.js';
export { pickPushAccountId } from './accounts/create-push-account.js';
export * from './accounts/export-for-extension.js';
export * from './accounts/forgotten-account.js';
export type {
  AccountIdentity,
  PushAccount,
  PushAccountIdentity,
} from './accounts/push-account.js';
export * from './accounts/push-account-store.js';
export * from './accounts/push-account-text.js';
export type { RegistrationRepeats, SentRegistration } from './accounts/sent-registration.js';
export * from './build-registration.js';
export * from './chat-api/api-error.js';
export * from './chat-api/chat-api.js';
export type { ClientDeviceApi, ClientDeviceUpdate } from './chat-api/client-device-api.js';
export type { EventQueue, PushDeviceState, ServerEvent } from './chat-api/event-queue.js';
export type { Fetch } from './chat-api/fetch.js';
export type { UnreachableCause } from './chat-api/unreachable-cause.js';
export type { BouncerKeySource } from './key-list/bouncer-key-choice.js';
export { createMemoryKeyListStore, type KeyListState, type KeyListStore } from './key-list/key-list-state.js';
export * from './notifications/open-notification.js';
export type { ReceivedPush } from './notifications/received-push.js';
export * from './notifications/seen-notifications.js';
export * from './push-client.js';
export type { PushToken } from './push-token.js';
export type { Registrar } from './registration/registrar.js';
export * from './registration/registration-status.js';
export type { SyncOptions } from './registration/sync-options.js';
export * from './seal-registration.js';
export * from './server-clock.js';
export * from './stores/indexed-db-storage.js';
export * from './stores/text-stores.js';
export * from './subscribe-to-pushes.js';
export * from './web-push-token.js';
