import type { PushAccountIdentity } from '../accounts/push-account.js';
import { exclusively } from '../mutex.js';
import type { IgnoredReason } from '../notifications/open-notification.js';
import { createOpener } from '../open.js';
import { createIndexedDbStorage } from '../stores/indexed-db-storage.js';
import type { TextStorage } from '../stores/stored-texts.js';
import {
  type DescribedNotification,
  describeNotification,
  type ShownNotification,
} from './describe-notification.js';
import { followClick } from './follow-click.js';
import { renewSubscription } from './renew-subscription.js';
import { retract, show, showQuietly } from './visible-notifications.js';
import type { WorkerEvents, WorkerScope } from './worker-scope.js';

/** Options of {@link handlePushes}. */
export interface PushHandlerOptions {
  /** The storage that the app's `createTextStores` uses. Default: `createIndexedDbStorage()`. */
  readonly storage?: TextStorage;
  /**
   * Returns the text of a notification and the URL to open on click. Default: sender or topic, the message, and the
   * worker's scope. To override only some fields, spread `describeNotification(notification)`.
   */
  readonly describe?: (
    notification: ShownNotification,
    account: PushAccountIdentity,
  ) => DescribedNotification;
  /** Title to show for a push that cannot be opened; default `New notification`. */
  readonly unreadableTitle?: string;
  /**
   * Title of the silent notification that is shown for a push without news if no other notification is visible; default
   * `No new messages`.
   */
  readonly nothingNewTitle?: string;
}

/** Reasons for ignoring a push that contains nothing new for the user. */
const nothingNew: ReadonlySet<IgnoredReason> = new Set(['repeat', 'unknown-account']);

/**
 * Sets up the service worker: opens pushes, shows and retracts notifications, opens the app on click, and renews a
 * subscription that the browser has replaced. Call `handlePushes` when the worker's script starts, because browsers
 * ignore listeners that are added later.
 *
 * @throws RangeError if the storage lacks a method.
 */
export function handlePushes(options: PushHandlerOptions = {}): void {
  const scope = globalThis as unknown as WorkerScope;
  const open = createOpener(options.storage ?? createIndexedDbStorage());
  scope.addEventListener('push', (event) =>
    event.waitUntil(exclusively('waxwing.pushes', () => handlePush(scope, open, event, options))),
  );
  scope.addEventListener('notificationclick', (event) =>
    event.waitUntil(followClick(scope, event.notification)),
  );
  scope.addEventListener('pushsubscriptionchange', (event) =>
    event.waitUntil(renewSubscription(scope, event)),
  );
}

async function handlePush(
  scope: WorkerScope,
  open: ReturnType<typeof createOpener>,
  { data }: WorkerEvents['push'],
  { describe = describeNotification, ...titles }: PushHandlerOptions,
): Promise<void> {
  const { unreadableTitle = 'New notification', nothingNewTitle = 'No new messages' } = titles;
  try {
    const opened = await open(data?.text() ?? '');
    if (opened.kind === 'ignored') {
      const isNews = !nothingNew.has(opened.reason);
      const hasVisible = (await scope.registration.getNotifications()).length > 0;
      if (isNews) await showQuietly(scope, unreadableTitle);
      else if (!hasVisible) await showQuietly(scope, nothingNewTitle);
      return;
    }
    const { notification, account } = opened;
    if (notification.type !== 'remove') {
      await show(scope, notification, account, describe(notification, account));
      return;
    }
    if (!(await retract(scope, notification, account))) await showQuietly(scope, nothingNewTitle);
  } catch (error) {
    // The storage or `describe` failed. The error appears in the browser's console, and the user still learns about the
    // push.
    await showQuietly(scope, unreadableTitle);
    throw error;
  }
}
