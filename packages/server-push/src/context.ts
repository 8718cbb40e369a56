import type { ClientDeviceIntake } from './client-devices/client-device-intake.js';
import type { CurrentRelay } from './current-relay.js';
import type { OneAtATime } from './one-at-a-time.js';
import type { DeviceWatch } from './own-events/device-watch.js';
import type { RegistrationIntake } from './push-devices/registration-intake.js';
import type { ServerPushOptions } from './server-push-options.js';

/** Context of the push operations. `createServerPush` builds it once. */
export interface ServerPushContext extends Omit<ServerPushOptions, 'relay'> {
  readonly relay: Pick<CurrentRelay, 'kind' | 'connection'>;
  readonly deviceWatch: DeviceWatch;
  readonly registering: RegistrationIntake;
  readonly changing: ClientDeviceIntake;
  /** Serializes the test notifications of one user. */
  readonly testing: OneAtATime;
}
