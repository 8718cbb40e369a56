import type { MessageNotification, Notification } from '@waxwing/protocol/phone';
import type { PushAccountIdentity } from '../accounts/push-account.js';

/** The text of a notification that a service worker shows. */
export interface DescribedNotification {
  readonly title: string;
  readonly body: string;
  /** URL of an image, relative to the worker. */
  readonly icon?: string | undefined;
  /**
   * The URL to open on click, relative to the worker's scope. By default, a click focuses an open window without
   * navigating or, if there is none, opens the scope in a new window.
   */
  readonly url?: string | undefined;
}

/** A notification of a type that is shown to the user: all types except removals. */
export type ShownNotification = Exclude<Notification, { readonly type: 'remove' }>;

/** Returns the default text of a notification: sender or topic, and the message. */
export function describeNotification(notification: ShownNotification): DescribedNotification {
  if (notification.type === 'message') {
    const { channel_name: channel, topic, sender_full_name: sender, content } = notification;
    if (!isOfSeveral(notification)) return { title: sender, body: content };
    const title = channel === undefined ? sender : `#${channel} › ${topic ?? ''}`;
    return { title, body: channel === undefined ? content : `${sender}: ${content}` };
  }
  const { realm_name: realm = new URL(notification.realm_url).host } = notification;
  if (notification.type === 'test') return { title: realm, body: 'Notifications work on this device.' };
  const { title = realm, body = '' } = notification.payload;
  return { title: String(title), body: String(body) };
}

function isOfSeveral({ channel_id: channel, recipient_user_ids: recipients = [] }: MessageNotification) {
  return channel !== undefined || recipients.length > 2;
}

/**
 * Returns the tag of a notification. All messages in one conversation of an account have the same tag, so they are
 * shown in one notification.
 */
export function tagOf(notification: ShownNotification, { pushAccountId }: PushAccountIdentity): string {
  return `waxwing ${pushAccountId} ${conversationOf(notification)}`;
}

function conversationOf(notification: ShownNotification): string {
  if (notification.type === 'test') return 'test';
  if (notification.type === 'payload') return `payload ${notification.id}`;
  const { channel_id: channel, topic, recipient_user_ids: recipients, sender_id: sender } = notification;
  if (channel !== undefined) return `channel ${channel} ${topic?.toLowerCase() ?? ''}`;
  return `direct ${(recipients ?? [sender]).map(String).sort().join(' ')}`;
}
