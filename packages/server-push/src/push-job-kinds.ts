import { tokenJobKinds } from './client-devices/enqueue-token-forwarding.js';
import { tokenRemoving } from './client-devices/remove-tokens.js';
import { deliverNotificationJob } from './notifications/deliver-notification.js';
import { readReceiptsJob } from './notifications/read-receipts.js';
import { registrationJobKinds } from './push-devices/enqueue-forwarding.js';
import { relayDeviceRemoving } from './push-devices/remove-relay-devices.js';
import { forwardRevocationJob } from './revocations/forward-revocation.js';

/** Kinds of jobs that users wait for. They run immediately when the relay recovers. */
export const urgentJobKinds = [
  deliverNotificationJob,
  registrationJobKinds.common,
  registrationJobKinds.further,
  tokenJobKinds.common,
  tokenJobKinds.further,
] as const;

/** Kinds of jobs that stop notifications to a phone. They are retried first when the relay recovers. */
export const endingJobKinds = [
  relayDeviceRemoving.jobKind,
  tokenRemoving.jobKind,
  forwardRevocationJob,
] as const;

/** Kinds of all jobs that send requests to the relay. */
export const pushJobKinds = [...urgentJobKinds, ...endingJobKinds] as const;

/** Kinds of all push jobs. Scheduled jobs are not included. */
export const allPushJobKinds: readonly string[] = [...pushJobKinds, readReceiptsJob];
