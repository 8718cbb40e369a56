import type { PushClient } from '@waxwing/client';

/** Shows and hides notifications: `@notifee/react-native` or `expo-notifications`. */
export interface NotificationDrawer {
  show(name: string, title: string, text: string): Promise<unknown>;
  hide(name: string): Promise<unknown>;
}

/**
 * For `messaging().setBackgroundMessageHandler(…)` of React Native Firebase, in index.js before the app is registered:
 * Android then runs it for each data message, with the app closed. For apps without the Kotlin service: do not use both.
 */
export function createBackgroundHandler(startPhone: () => Promise<PushClient>, drawer: NotificationDrawer) {
  return async ({ data }: { data?: Readonly<Record<string, unknown>> }): Promise<void> => {
    const phone = await startPhone();
    const opened = await phone.open(data ?? {});
    if (opened.kind === 'ignored') return;
    const { notification, account } = opened;
    const nameOf = (id: number | bigint | string) => `${account.pushAccountId} ${id}`;
    if (notification.type === 'message') {
      const { message_id, sender_full_name, content } = notification;
      await drawer.show(nameOf(message_id), sender_full_name, content);
    } else if (notification.type === 'payload') {
      // The app defines the payload. This example shows its title and body.
      const { title = '', body = '' } = notification.payload;
      await drawer.show(nameOf(`p${notification.id}`), String(title), String(body));
    } else if (notification.type === 'remove') {
      for (const messageId of notification.message_ids) await drawer.hide(nameOf(messageId));
    }
  };
}
