import { openingSodium } from '@waxwing/sodium/opening';
import { type OpenedNotification, openNotification } from './notifications/open-notification.js';
import type { ReceivedPush } from './notifications/received-push.js';
import { createStoredTexts, requireTextStorage, type TextStorage } from './stores/stored-texts.js';
import { createTextPushAccountStore } from './stores/text-account-store.js';
import { createTextSeenNotifications } from './stores/text-seen-notifications.js';

export { openingSodium } from '@waxwing/sodium/opening';
export * from './notifications/open-notification.js';
export type { ReceivedPush } from './notifications/received-push.js';
export { createIndexedDbStorage } from './stores/indexed-db-storage.js';
export type { TextStorage } from './stores/stored-texts.js';

/**
 * Creates a function that opens pushes without libsodium, using the accounts that `createTextStores` keeps in this
 * storage. Like `PushClient.open`, it drops repeats and never throws because of a push's contents; storage errors
 * propagate to the caller. It reports damaged data on the console, because the damage may not appear in the status of
 * any `sync`.
 *
 * @throws RangeError if the storage is missing a method.
 */
export function createOpener(storage: TextStorage): (received: ReceivedPush) => Promise<OpenedNotification> {
  requireTextStorage(storage);
  const texts = createStoredTexts(storage);
  const accounts = createTextPushAccountStore(texts);
  const seen = createTextSeenNotifications(texts);
  return async (received) => {
    const opened = await openNotification({ sodium: openingSodium, accounts, seen }, received);
    const warning = texts.takeWarning();
    if (warning !== undefined) console.warn(warning);
    return opened;
  };
}
