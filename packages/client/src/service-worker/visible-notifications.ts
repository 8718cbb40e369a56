import type { RemoveNotification } from '@waxwing/protocol/phone';
import type { PushAccountIdentity } from '../accounts/push-account.js';
import { type DescribedNotification, type ShownNotification, tagOf } from './describe-notification.js';
import type { VisibleNotification, WorkerScope } from './worker-scope.js';

const quietTag = 'waxwing quiet';
const mostLines = 4;
const mostKeptMessages = 50;

/** Data that is stored with a visible notification. */
interface ShownData {
  readonly waxwing: {
    readonly pushAccountId: string;
    /** The absolute URL that a click opens. */
    readonly url?: string;
    /** Messages of the conversation, oldest first. */
    readonly messages: readonly { readonly id: string; readonly body: string }[];
  };
}

/**
 * Shows a notification. The messages of one conversation become lines of one notification. Calls must be serialized,
 * because each call first reads the visible notifications.
 */
export async function show(
  { registration }: WorkerScope,
  notification: ShownNotification,
  account: PushAccountIdentity,
  described: DescribedNotification,
): Promise<void> {
  const tag = tagOf(notification, account);
  const [visible] = await registration.getNotifications({ tag });
  const id = notification.type === 'message' ? String(notification.message_id) : '';
  // Only messages are appended as lines. A second test notification replaces the first.
  const before = visible === undefined || id === '' ? [] : (dataOf(visible)?.messages ?? []);
  const messages = [...before, { id, body: described.body }].slice(-mostKeptMessages);
  const { title, icon, url } = described;
  const data: ShownData = {
    waxwing: {
      pushAccountId: String(account.pushAccountId),
      ...(url === undefined ? {} : { url: new URL(url, registration.scope).href }),
      messages,
    },
  };
  await registration.showNotification(title, {
    ...textOf(messages),
    tag,
    silent: false,
    renotify: true,
    ...(icon === undefined ? {} : { icon }),
    data,
  });
  for (const quiet of await registration.getNotifications({ tag: quietTag })) quiet.close();
}

/**
 * Removes messages from the visible notifications of an account, and closes notifications that become empty. Returns
 * whether any notification is still visible. Counts the closed notifications instead of asking the browser, which may
 * still list a notification for a while after it was closed.
 */
export async function retract(
  { registration }: WorkerScope,
  { message_ids: ids }: RemoveNotification,
  { pushAccountId }: PushAccountIdentity,
): Promise<boolean> {
  const retracted = new Set(ids.map(String));
  const all = await registration.getNotifications();
  let closed = 0;
  for (const visible of all) {
    const data = dataOf(visible);
    if (data === undefined || data.pushAccountId !== String(pushAccountId)) continue;
    const messages = data.messages.filter(({ id }) => !retracted.has(id));
    if (messages.length === data.messages.length) continue;
    if (messages.length === 0) {
      visible.close();
      closed += 1;
      continue;
    }
    const { title, tag, icon } = visible;
    const options = { ...textOf(messages), tag, silent: true, renotify: false };
    await registration.showNotification(title, {
      ...options,
      ...(icon === undefined || icon === '' ? {} : { icon }),
      data: { waxwing: { ...data, messages } } satisfies ShownData,
    });
  }
  return closed < all.length;
}

/**
 * Shows a silent notification, unless a window of the app is visible. Browsers require that each push shows a
 * notification (`userVisibleOnly`); otherwise they show a text of their own or cancel the subscription.
 */
export async function showQuietly({ registration, clients }: WorkerScope, title: string): Promise<void> {
  const windows = await clients.matchAll({ type: 'window', includeUncontrolled: true });
  const isVisible = windows.some(
    ({ url, visibilityState }) => visibilityState === 'visible' && url.startsWith(registration.scope),
  );
  if (isVisible) return;
  const data: ShownData = { waxwing: { pushAccountId: '', messages: [] } };
  await registration.showNotification(title, {
    body: '',
    tag: quietTag,
    silent: true,
    renotify: false,
    data,
  });
}

/**
 * Returns the data stored with a notification, or `undefined` if a different part of the app showed the notification.
 */
export function dataOf({ data }: VisibleNotification): ShownData['waxwing'] | undefined {
  return (data as Partial<ShownData> | null)?.waxwing;
}

function textOf(messages: readonly { readonly body: string }[]): { readonly body: string } {
  const lines = messages.slice(-mostLines).map(({ body }) => body);
  return { body: lines.join('\n') };
}
