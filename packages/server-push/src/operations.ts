import type { AnyOperation } from '@waxwing/service/http';
import { registerClientDevice } from './client-devices/register-client-device.js';
import { removeClientDevice } from './client-devices/remove-client-device.js';
import type { ServerPushContext } from './context.js';
import { forwardKeyList } from './key-list/forward-key-list.js';
import { testNotification } from './notifications/test-notification.js';
import { deleteEventQueue } from './own-events/delete-event-queue.js';
import { getEvents } from './own-events/get-events.js';
import { register } from './own-events/register.js';
import { unregisterPushDevice } from './push-devices/unregister-push-device.js';
import { registerPush } from './register-push.js';
import { showHostChallenge } from './relay-account/host-challenge.js';
import { revokePush } from './revocations/revoke-push.js';

/** All operations of the server side of encrypted push. */
export const serverPushOperations: readonly AnyOperation<ServerPushContext>[] = [
  registerClientDevice,
  removeClientDevice,
  registerPush,
  unregisterPushDevice,
  revokePush,
  testNotification,
  forwardKeyList,
  showHostChallenge,
];

/** Operations of a chat API that phones also need. For hosts without a chat API. */
export const ownEventOperations: readonly AnyOperation<ServerPushContext>[] = [
  register,
  getEvents,
  deleteEventQueue,
];
