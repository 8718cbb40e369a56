import type { AnyOperation } from '@waxwing/service/http';
import type { ServerPushContext } from './context.js';
import { forwardKeyList } from './key-list/forward-key-list.js';
import { testNotification } from './notifications/test-notification.js';
import { registerPushDevice } from './push-devices/register-push-device.js';
import { unregisterPushDevice } from './push-devices/unregister-push-device.js';

/** All operations of the server's half of encrypted push. */
export const serverPushOperations: readonly AnyOperation<ServerPushContext>[] = [
  registerPushDevice,
  unregisterPushDevice,
  testNotification,
  forwardKeyList,
];
