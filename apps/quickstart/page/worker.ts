import { createIndexedDbStorage, describeNotification, handlePushes } from '@waxwing/client/service-worker';
import { openedChannelName, storageName } from './shared-names.js';

const opened = new BroadcastChannel(openedChannelName());

handlePushes({
  storage: createIndexedDbStorage(storageName()),
  describe(notification) {
    const described = describeNotification(notification);
    opened.postMessage(described);
    return described;
  },
});
