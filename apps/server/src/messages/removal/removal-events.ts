import type { UserId } from '@waxwing/protocol';
import type { PublishedEvent } from '../../event-queues/publish-events.js';
import { eventWithTopics } from '../message-form.js';

/** Messages that somebody can see no more, and where they were; a channel's unless they were direct. */
export interface GoneMessages {
  /** In ascending order. */
  readonly ids: readonly number[];
  readonly channelId: number | undefined;
  readonly topic: string;
}

/** `delete_message`: for clients that cannot take several at once, an event for each. */
export function removalEvents(
  { ids, channelId, topic }: GoneMessages,
  audience: readonly UserId[],
): PublishedEvent[] {
  if (ids.length === 0 || audience.length === 0) return [];
  const told = (
    isHeld: boolean,
    named: { readonly message_id: number } | { readonly message_ids: number[] },
  ): PublishedEvent => ({
    audience,
    onlyFor: { capability: 'bulk_message_deletion', isHeld },
    ...eventWithTopics('delete_message', (topicAs) => ({
      ...named,
      ...(channelId === undefined
        ? { message_type: 'private' }
        : { message_type: 'stream', stream_id: channelId, topic: topicAs(topic) }),
    })),
  });
  return [told(true, { message_ids: [...ids] }), ...ids.map((id) => told(false, { message_id: id }))];
}
