export type { PushAccountIdentity } from './accounts/push-account.js';
export * from './open.js';
export {
  type DescribedNotification,
  describeNotification,
  type ShownNotification,
} from './service-worker/describe-notification.js';
export * from './service-worker/handle-pushes.js';
export { subscriptionChangedMessage } from './service-worker/renew-subscription.js';
