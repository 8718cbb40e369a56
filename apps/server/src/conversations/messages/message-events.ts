import type { RenderedMarkdown } from '@waxwing/markdown';
import type { JsonObject, UserId } from '@waxwing/protocol';
import { shownAddress } from '../../people/users/address-visibility.js';
import type { PublishedEvent } from '../../platform/event-queues/published-event.js';
import { formOf, type MessageForm } from './message-form.js';
import { writeFlags, writeMessage } from './message-record.js';
import type { Message } from './message-store.js';
import { readStoredNarrow } from './narrow/narrow-terms.js';
import { meetsNarrow } from './narrow/queue-filter.js';
import { type MessageCopy, usersByFlags } from './recipients.js';
import { hidingUsers, type RelatedRecords } from './related-records.js';

/** A sent message and its copies. */
export interface SentMessage {
  readonly message: Message;
  readonly rendered: RenderedMarkdown;
  readonly copies: readonly MessageCopy[];
}

interface EventContext {
  /** The sender's event queue, and the client-assigned id of the message, which is sent only to that queue. */
  readonly echo: { readonly queueId: string; readonly localId: string } | undefined;
  /** Guests who receive the message but may not see its sender. */
  readonly hiddenFrom: ReadonlySet<UserId>;
  /** Whether the channel is public. */
  readonly isPublic: boolean;
}

/** The form of the message for one client. */
interface EventForm extends MessageForm {
  readonly isHidden: boolean;
}

/**
 * Builds the events for a new message: one per distinct set of flags, and one for the event queues that follow all
 * public channels and whose users have no copy.
 */
export function messageEvents(
  { message, copies }: SentMessage,
  related: RelatedRecords,
  { echo, hiddenFrom, isPublic }: EventContext,
): PublishedEvent[] {
  const unknown = hidingUsers(related, ({ id }) => id !== message.senderId);
  const write = (flags: number | undefined, localId: string | undefined, form: EventForm): JsonObject => ({
    type: 'message',
    flags: writeFlags(flags),
    message: writeMessage(message, form.isHidden ? unknown : related, form) as JsonObject,
    ...(localId === undefined ? {} : { local_message_id: localId }),
  });
  // Uses the sender's address as the queue's owner sees it. Matching the real address would reveal a hidden address.
  const isInNarrow = (narrow: string, flags: number | undefined, isHidden: boolean): boolean => {
    const { channelId, senderId, topic } = message;
    const channel =
      channelId === undefined ? undefined : { id: channelId, name: related.channelName(channelId) };
    const sender = (isHidden ? unknown : related).user(senderId);
    const email = shownAddress(sender, related.realm);
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

/**
 * Returns a distinct number for each form. Called thousands of times per message, so building a string would dominate
 * the cost.
 */
function kindOf({ appliesMarkdown, makesAvatars, knowsEmptyTopic }: MessageForm, isHidden: boolean): number {
  return (appliesMarkdown ? 1 : 0) + (makesAvatars ? 2 : 0) + (knowsEmptyTopic ? 4 : 0) + (isHidden ? 8 : 0);
}
