import type { KeyListCache } from './key-list/key-list-cache.js';
import type { NotificationSender } from './notifications/notification-sender.js';
import type { OneAtATime } from './one-at-a-time.js';
import type { RegistrationIntake } from './push-devices/registration-intake.js';
import type { ServerPushOptions } from './server-push-options.js';

/** What the operations of encrypted push work with; made once, when it is mounted. */
export interface ServerPushContext extends ServerPushOptions {
  /** `undefined` while the organisation has no relay. */
  readonly sender: NotificationSender | undefined;
  /** `undefined` while the organisation has no relay. */
  readonly keyList: KeyListCache | undefined;
  readonly registering: RegistrationIntake;
  /** Test notifications of one user wait for each other. */
  readonly testing: OneAtATime;
}
