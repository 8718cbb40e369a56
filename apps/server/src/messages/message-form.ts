import type { JsonObject } from '@waxwing/protocol';
import type { AskingQueue, PublishedEvent } from '../event-queues/publish-events.js';
import { realmLimits } from '../realm/realm-limits.js';

/** In which form a client wants messages. */
export interface MessageForm {
  /** HTML, not source. */
  readonly appliesMarkdown: boolean;
  /** The client makes the URLs of the provider's pictures itself. */
  readonly makesAvatars: boolean;
  /** The client knows that a topic can have no name. */
  readonly knowsEmptyTopic: boolean;
}

/** A topic as a client wants it. */
export function writeTopic(topic: string, { knowsEmptyTopic }: Pick<MessageForm, 'knowsEmptyTopic'>): string {
  return topic === '' && !knowsEmptyTopic ? realmLimits.realm_empty_topic_display_name : topic;
}

/** In which form the client of a queue wants messages. */
export function formOf(queue: AskingQueue): MessageForm {
  return {
    appliesMarkdown: queue.appliesMarkdown,
    makesAvatars: queue.makesAvatars,
    knowsEmptyTopic: queue.can('empty_topic_name'),
  };
}

/** An event that names topics, each as the client wants it. */
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
