import { dataOf } from './visible-notifications.js';
import type { VisibleNotification, WorkerScope } from './worker-scope.js';

/**
 * Focuses a window of the app and shows the notification's URL there, or opens a window if there is none. Without a URL,
 * the window stays as it is, with what the user has typed.
 */
export async function followClick(
  { registration, clients }: WorkerScope,
  notification: VisibleNotification,
): Promise<void> {
  const shown = dataOf(notification);
  if (shown === undefined) return;
  const { url } = shown;
  notification.close();
  const windows = await clients.matchAll({ type: 'window', includeUncontrolled: true });
  const own = windows.filter((each) => each.url.startsWith(registration.scope));
  const window = own.find((each) => each.url === url) ?? own[0];
  if (window === undefined) {
    await clients.openWindow(url ?? registration.scope);
    return;
  }
  // Focus first: a navigation would use up the permission to focus that the click gives.
  await window.focus();
  if (url !== undefined && window.url !== url)
    await window.navigate(url).catch(() => clients.openWindow(url));
}
