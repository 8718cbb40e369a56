import {
  type AccountIdentity,
  type ExtensionAccount,
  exportForExtension,
  type PushAccountStore,
  type PushClient,
} from '@waxwing/client';

/**
 * Where native code finds the keys. On iOS `react-native-keychain`: `put` is `setGenericPassword(owner, text, { service:
 * 'waxwing.push.' + owner, accessGroup, accessible: ACCESSIBLE.AFTER_FIRST_UNLOCK_THIS_DEVICE_ONLY })`, `remove` is
 * `resetGenericPassword({ service })`. On Android `NativeModules.WaxwingPush`.
 */
export interface SharedKeys {
  put(owner: string, text: string): Promise<unknown>;
  remove(owner: string): Promise<unknown>;
}

/** Call it after each `sync`: passes every account's keys to native code. */
export async function shareKeys(accounts: PushAccountStore, keys: SharedKeys): Promise<void> {
  for (const account of await accounts.list()) {
    const text = exportForExtension(account);
    await keys.put(ownerOf(text), text);
  }
}

/** Call it before `forget`: removes the keys of one account. */
export async function unshareKeys(
  accounts: PushAccountStore,
  keys: SharedKeys,
  { realmUrl, userId }: AccountIdentity,
): Promise<void> {
  for (const account of await accounts.list()) {
    const isOwn = account.realmUrl === realmUrl && String(account.userId) === String(userId);
    if (isOwn) await keys.remove(ownerOf(exportForExtension(account)));
  }
}

/**
 * Names the text of an account. A sync can replace the account's `pushAccountId`: the new text must then replace the
 * former one, and native code must still know which messages it has shown.
 */
function ownerOf(text: string): string {
  const { realmOrigin, userId } = JSON.parse(text) as ExtensionAccount;
  return `${realmOrigin} ${userId}`;
}

/** Shows and hides notifications: `@notifee/react-native` or `expo-notifications`. */
export interface NotificationDrawer {
  show(name: string, title: string, text: string): Promise<unknown>;
  hide(name: string): Promise<unknown>;
}

/**
 * For `messaging().setBackgroundMessageHandler(…)` of React Native Firebase, in index.js before the app is registered:
 * Android then runs it for each data message, with the app closed. Without Kotlin: do not have the native service, too.
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
