import type { JsonObject } from '@waxwing/protocol';
import { realmLimits } from '../../people/realm/realm-limits.js';
import type { AskingQueue, PublishedEvent } from '../../platform/event-queues/published-event.js';

/** The form of messages that a client requests. */
export interface MessageForm {
  /** Whether the content is HTML instead of Markdown source. */
  readonly appliesMarkdown: boolean;
  /** Whether the client computes the avatar provider's URLs itself. */
  readonly makesAvatars: boolean;
  /** Whether the client supports topics without a name. */
  readonly knowsEmptyTopic: boolean;
}

/** Returns a topic in the form that the client supports. */
export function writeTopic(topic: string, { knowsEmptyTopic }: Pick<MessageForm, 'knowsEmptyTopic'>): string {
  return topic === '' && !knowsEmptyTopic ? realmLimits.realm_empty_topic_display_name : topic;
}

/** Returns the message form of an event queue's client. */
export function formOf(queue: AskingQueue): MessageForm {
  return {
    appliesMarkdown: queue.appliesMarkdown,
    makesAvatars: queue.makesAvatars,
    knowsEmptyTopic: queue.can('empty_topic_name'),
  };
}

/** Builds an event that contains topics, with topic names in the form that each client supports. */
export function eventWithTopics(
  type: string,
  write: (named: (topic: string) => string) => JsonObject,
): Pick<PublishedEvent, 'event' | 'variantFor'> {
  return {
    event: { type },
    variantFor(queue) {
      const form = formOf(queue);
      return {
        key: String(form.knowsEmptyTopic),
        write: () => ({ type, ...write((topic) => writeTopic(topic, form)) }),
      };
    },
  };
}
