import type { JsonObject, MessageId, UserId } from '@waxwing/protocol';
import { unixSeconds } from '@waxwing/service/lifecycle';
import { groupedBy } from '../../../people/permissions/grouped-by.js';
import type { PublishedEvent } from '../../../platform/event-queues/published-event.js';
import { eventWithTopics } from '../message-form.js';
import { writeFlags } from '../message-record.js';
import type { Message } from '../message-store.js';
import type { EditPlan } from './plan-edit.js';

/** An applied edit, with the facts that its events contain. */
export interface PublishedEdit extends EditPlan {
  /** The message before the edit. */
  readonly before: Message;
  /** The name of the channel before the edit. `undefined` for direct messages. */
  readonly channelName: string | undefined;
  readonly editorId: UserId;
  readonly now: number;
  /** All changed messages, in ascending order. */
  readonly messageIds: readonly MessageId[];
}

/** Builds the `update_message` events: one for each distinct set of flags that readers' copies have after the edit. */
export function updateEvents(
  notified: PublishedEdit,
  flagsOf: ReadonlyMap<UserId, number | undefined>,
): PublishedEvent[] {
  return [...groupedBy([...flagsOf], ([, flags]) => flags)].map(([flags, alike]) => ({
    audience: alike.map(([userId]) => userId),
    ...eventWithTopics('update_message', (named) => ({
      ...writeUpdate(notified, named),
      flags: flags === undefined ? ['read'] : writeFlags(flags),
    })),
  }));
}

type NameTopic = (topic: string) => string;

function writeUpdate(notified: PublishedEdit, named: NameTopic): JsonObject {
  const { before, channelName, editorId, messageIds, now } = notified;
  return {
    user_id: editorId,
    edit_timestamp: unixSeconds(now),
    message_id: before.id,
    message_ids: [...messageIds],
    rendering_only: false,
    ...(before.channelId === undefined
      ? {}
      : { stream_id: before.channelId, stream_name: channelName ?? '' }),
    ...contentFields(notified),
    ...moveFields(notified, named),
  };
}

function contentFields({ before, content }: PublishedEdit): JsonObject {
  if (content === undefined) return {};
  return {
    content: content.source,
    rendered_content: content.html,
    orig_content: before.content,
    orig_rendered_content: before.renderedContent,
    is_me_message: content.source.startsWith('/me '),
  };
}

function moveFields({ before, move }: PublishedEdit, named: NameTopic): JsonObject {
  if (move === undefined) return {};
  return {
    orig_subject: named(before.topic),
    propagate_mode: move.propagateMode,
    ...(move.isChannelChanged ? { new_stream_id: move.to.channelId } : {}),
    ...(move.isTopicChanged ? { subject: named(move.to.topic), topic_links: [] } : {}),
  };
}
