import type { ChannelId, MessageId, UserId } from '@waxwing/protocol';
import type { PublishedEvent } from '../../../platform/event-queues/published-event.js';
import { formOf, writeTopic } from '../message-form.js';

/** Messages that an audience can no longer see, with their channel and topic. Direct messages have no channel. */
export interface GoneMessages {
  /** In ascending order. */
  readonly ids: readonly MessageId[];
  readonly channelId: ChannelId | undefined;
  readonly topic: string;
}

/**
 * Builds `delete_message`: one event for clients that support bulk deletion, one event per message for other clients.
 */
export function removalEvents(
  { ids, channelId, topic }: GoneMessages,
  audience: readonly UserId[],
): PublishedEvent[] {
  if (ids.length === 0 || audience.length === 0) return [];
  const type = 'delete_message';
  const variantFor: PublishedEvent['variantFor'] = (queue) => {
    const isBulk = queue.can('bulk_message_deletion');
    const form = formOf(queue);
    const place =
      channelId === undefined
        ? { message_type: 'private' }
        : { message_type: 'stream', stream_id: channelId, topic: writeTopic(topic, form) };
    return {
      key: `${isBulk} ${form.knowsEmptyTopic}`,
      write: () =>
        isBulk
          ? { type, message_ids: [...ids], ...place }
          : ids.map((id) => ({ type, message_id: id, ...place })),
    };
  };
  return [{ audience, event: { type }, variantFor }];
}
