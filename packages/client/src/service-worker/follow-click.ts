import { dataOf } from './visible-notifications.js';
import type { VisibleNotification, WorkerScope } from './worker-scope.js';

/**
 * Focuses a window of the app and shows the notification's URL in it, or opens a new window if no window is open.
 * Without a URL, the window does not navigate, so the user's unsaved input is kept.
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
  // Focuses first, because navigating would use up the permission to focus that the click grants.
  await window.focus();
  if (url !== undefined && window.url !== url)
    await window.navigate(url).catch(() => clients.openWindow(url));
}
