import type { WorkerEvents, WorkerScope } from './worker-scope.js';

/** Message that the worker posts to the app's windows when the browser has replaced the subscription. */
export const subscriptionChangedMessage = 'waxwing.subscription-changed';

/**
 * Subscribes again if the browser has not done so. Notifies the app's windows, which then call `sync`. If no window is
 * open, the app calls `sync` the next time it starts.
 */
export async function renewSubscription(
  { registration, clients }: WorkerScope,
  { oldSubscription, newSubscription }: WorkerEvents['pushsubscriptionchange'],
): Promise<void> {
  const key = oldSubscription?.options?.applicationServerKey ?? null;
  try {
    if (key !== null && (newSubscription ?? null) === null) {
      await registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
    }
  } finally {
    // Posts the message even if the push service refused: the app's `sync` then tries again and shows the user why it
    // fails.
    const windows = await clients.matchAll({ type: 'window', includeUncontrolled: true });
    for (const window of windows) window.postMessage(subscriptionChangedMessage);
  }
}
