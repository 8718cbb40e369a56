import type { ClientDeviceIntake } from './client-devices/client-device-intake.js';
import type { KeyListCache } from './key-list/key-list-cache.js';
import type { NotificationSender } from './notifications/notification-sender.js';
import type { OneAtATime } from './one-at-a-time.js';
import type { RegistrationIntake } from './push-devices/registration-intake.js';
import type { ServerPushOptions } from './server-push-options.js';

/** Context of the push operations; built once, in `createServerPush`. */
export interface ServerPushContext extends ServerPushOptions {
  /** `undefined` if the organization has no relay. */
  readonly sender: NotificationSender | undefined;
  /** `undefined` if the organization has no relay. */
  readonly keyList: KeyListCache | undefined;
  readonly registering: RegistrationIntake;
  readonly changing: ClientDeviceIntake;
  /** Serializes the test notifications of one user. */
  readonly testing: OneAtATime;
}
