import type { RenderedMarkdown } from '@waxwing/markdown';
import type { JsonObject, UserId } from '@waxwing/protocol';
import type { PublishedEvent } from '../event-queues/publish-events.js';
import { shownAddress } from '../users/address-visibility.js';
import { formOf, type MessageForm } from './message-form.js';
import { writeFlags, writeMessage } from './message-record.js';
import type { Message } from './message-store.js';
import { hidingUsers, type MessageSurroundings } from './message-surroundings.js';
import { readStoredNarrow } from './narrow/narrow-terms.js';
import { meetsNarrow } from './narrow/queue-filter.js';
import { type MessageCopy, usersByFlags } from './recipients.js';

/** A message that was sent, and who has a copy of it. */
export interface SentMessage {
  readonly message: Message;
  readonly rendered: RenderedMarkdown;
  readonly copies: readonly MessageCopy[];
}

interface Telling {
  /** The queue that it was sent with, and what that client calls it. */
  readonly echo: { readonly queueId: string; readonly localId: string } | undefined;
  /** Guests who get it and may not know of its sender. */
  readonly hiddenFrom: ReadonlySet<UserId>;
  /** Whether its channel is public. */
  readonly isPublic: boolean;
}

/** How one client is told. */
interface TellingForm extends MessageForm {
  readonly isHidden: boolean;
}

/**
 * What clients are told of a new message: an event for each kind of copy, since its flags are in it, and one for the queues
 * that follow all public channels, whose users have none.
 */
export function messageEvents(
  { message, copies }: SentMessage,
  surroundings: MessageSurroundings,
  { echo, hiddenFrom, isPublic }: Telling,
): PublishedEvent[] {
  const unknown = hidingUsers(surroundings, ({ id }) => id !== message.senderId);
  const write = (flags: number | undefined, localId: string | undefined, form: TellingForm): JsonObject => ({
    type: 'message',
    flags: writeFlags(flags),
    message: writeMessage(message, form.isHidden ? unknown : surroundings, form) as JsonObject,
    ...(localId === undefined ? {} : { local_message_id: localId }),
  });
  // By what the owner of the queue is told of the sender: the narrow would find out an address that is hidden.
  const isInNarrow = (narrow: string, flags: number | undefined, isHidden: boolean): boolean => {
    const { channelId, senderId, topic } = message;
    const channel =
      channelId === undefined ? undefined : { id: channelId, name: surroundings.channelName(channelId) };
    const sender = (isHidden ? unknown : surroundings).user(senderId);
    const email = shownAddress(sender, surroundings.realm);
    return meetsNarrow(readStoredNarrow(narrow), { channel, topic, sender: { id: senderId, email }, flags });
  };
  const event = (flags: number | undefined): Pick<PublishedEvent, 'event' | 'variantFor'> => ({
    event: { type: 'message' },
    variantFor(queue) {
      const isHidden = hiddenFrom.has(queue.userId);
      if (queue.narrow !== null && !isInNarrow(queue.narrow, flags, isHidden)) return undefined;
      const form = formOf(queue);
      const localId = queue.queueId === echo?.queueId ? echo.localId : undefined;
      const kind = kindOf(form, isHidden);
      return {
        key: localId === undefined ? String(kind) : `${kind} ${localId}`,
        write: () => write(flags, localId, { ...form, isHidden }),
      };
    },
  });
  const events: PublishedEvent[] = [...usersByFlags(copies)].map(([flags, userIds]) => ({
    ...event(flags),
    audience: userIds,
  }));
  if (!isPublic) return events;
  const audience = new Set(copies.map(({ userId }) => userId));
  return [...events, { ...event(undefined), audience: [], publicBut: audience }];
}

/** A number for each way to tell clients: thousands of queues are asked, and a text would take longer than all the rest. */
function kindOf({ appliesMarkdown, makesAvatars, knowsEmptyTopic }: MessageForm, isHidden: boolean): number {
  return (appliesMarkdown ? 1 : 0) + (makesAvatars ? 2 : 0) + (knowsEmptyTopic ? 4 : 0) + (isHidden ? 8 : 0);
}
