import { randomUUID } from 'node:crypto';
import type { RenderedMarkdown } from '@waxwing/markdown';
import {
  type NotificationReach,
  notificationReach,
  type PushRealm,
  type RelayAccount,
} from '@waxwing/server-push';
import { enableRemedy } from '@waxwing/server-push/commands';
import { CommandError } from '@waxwing/service/command-line';
import type { Clock } from '@waxwing/service/lifecycle';
import { KnownLinkifiers } from '../content/linkifiers/known-linkifiers.js';
import { sendMessages } from '../conversations/messages/insert-messages.js';
import { notifyOfMessages } from '../conversations/messages/push/notify-of-messages.js';
import { renderContents } from '../conversations/messages/render-content.js';
import { readNewContent } from '../conversations/messages/send/message-text.js';
import { requireUser } from '../membership/user-administration/manage-users.js';
import { systemBotId } from '../people/users/system-bots.js';
import type { User } from '../people/users/user-store.js';
import { createPublisher } from '../platform/event-queues/publish-events.js';
import { queueNotifier } from '../platform/event-queues/queue-listeners.js';
import type { ServerDatabase } from '../tables.js';
import { adminNames } from './admin-names.js';

/** A text that an admin sends to a user's phones, with the user's email address. */
export interface TextToSend {
  readonly email: string;
  readonly text: string;
}

export interface SentText {
  readonly user: User;
  readonly messageId: number;
  /** Number of devices that the notification is sent to. */
  readonly devices: number;
  /** The id of the report in which the running server stores the relay's result for each device. */
  readonly reportId: string;
}

/**
 * Sends a user a direct message from the Notification Bot. The running server encrypts the message's notification for
 * each of the user's devices, as for any message. Sends nothing if no device would be notified.
 * @throws CommandError if no device would be notified.
 * @throws ProtocolError BAD_REQUEST for an empty text.
 */
export async function sendText(
  database: ServerDatabase,
  {
    clock,
    realm,
    relay,
  }: { readonly clock: Clock; readonly realm: PushRealm; readonly relay: Pick<RelayAccount, 'kind'> },
  { email, text }: TextToSend,
): Promise<SentText> {
  const content = readNewContent(text);
  const user = await requireUser(database, email);
  if (user.isBot) throw new CommandError(`${user.email} is a bot: bots have no phones.`);
  const publish = createPublisher(queueNotifier(database.signals), clock);
  const linkifiers = new KnownLinkifiers(database.signals, clock);
  const rendering = { realm, linkifiers };
  const [rendered] = (await renderContents(database.db, rendering, undefined, [content])) as [
    RenderedMarkdown,
  ];
  return database.write(async (transaction) => {
    const devices = requireDevices(user, await notificationReach(transaction, relay, user.id));
    const senderId = await systemBotId(transaction, 'notification-bot');
    const destination = { kind: 'direct', userIds: [senderId, user.id] } as const;
    const context = { clock, database, publish, realm };
    const message = { senderId, destination, content, rendered, client: 'Internal', readBy: [senderId] };
    const sent = await sendMessages(transaction, context, [message]);
    const reportId = randomUUID();
    const notified = await notifyOfMessages(transaction, context, sent, reportId);
    if (!notified.has(user.id)) {
      throw new CommandError(
        `${user.email} has turned off notifications for direct messages: nothing was sent.`,
      );
    }
    return { user, devices, messageId: sent[0]?.message.id ?? 0, reportId };
  });
}

function requireDevices({ email }: User, reach: NotificationReach): number {
  if (reach.kind === 'devices') return reach.devices;
  if (reach.kind === 'no-relay') {
    throw new CommandError(`No relay is configured, so nothing was sent: ${enableRemedy(adminNames)}.`);
  }
  if (reach.kind === 'switched-off') {
    throw new CommandError(
      'The relay has switched push off for the organization, so nothing was sent: see waxwing-server push status.',
    );
  }
  if (reach.pending > 0) {
    throw new CommandError(
      `No phone of ${email} is registered yet, so nothing was sent. Registrations waiting for the relay: ${reach.pending}. See waxwing-server push status.`,
    );
  }
  throw new CommandError(
    `No phone of ${email} is registered, so nothing was sent: the app must be opened and signed in there first.`,
  );
}
