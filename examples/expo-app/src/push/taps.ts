import * as Notifications from 'expo-notifications';
import { DeviceEventEmitter, Platform } from 'react-native';
import { waxwingPush } from './native-module';
import { parseNotificationName, type ShownNotification } from './notification-name';

/**
 * Calls `onTap` once for each tapped notification, including the one that started the app. Returns a function that
 * stops this.
 */
export function listenForTaps(onTap: (tapped: ShownNotification) => void): () => void {
  const report = (name: unknown) => {
    const tapped = parseNotificationName(name);
    if (tapped !== undefined) onTap(tapped);
  };
  return Platform.OS === 'android' ? listenOnAndroid(report) : listenOnIos(report);
}

function listenOnAndroid(report: (name: unknown) => void): () => void {
  const take = async () => {
    for (const name of await waxwingPush.takeTaps()) report(name);
  };
  const subscription = DeviceEventEmitter.addListener('waxwing.tap', take);
  void take();
  return () => subscription.remove();
}

function listenOnIos(report: (name: unknown) => void): () => void {
  const take = (response: Notifications.NotificationResponse) => {
    Notifications.clearLastNotificationResponse();
    report(notificationNameOf(response.notification));
  };
  const subscription = Notifications.addNotificationResponseReceivedListener(take);
  const first = Notifications.getLastNotificationResponse();
  if (first !== null) take(first);
  return () => subscription.remove();
}

/** Returns the name that the extension has stored in a notification on iOS. */
export function notificationNameOf({ request }: Notifications.Notification): unknown {
  const { trigger } = request;
  if (trigger === null || !('payload' in trigger)) return undefined;
  return trigger.payload?.waxwing_message;
}
