import type { JsonObject, UserId } from '@waxwing/protocol';
import type { AddressedEvent } from '@waxwing/server-push';
import type { ServerTransaction } from '../../tables.js';
import type { ClientCapability } from './client-capabilities.js';
import type { QueueOwner, QueueOwnersAsked } from './queue-owners.js';

/** An event and its audience. */
export interface PublishedEvent extends Omit<AddressedEvent, 'audience'> {
  /** The ids of the users who get the event. Duplicates are ignored. `everyone` means all active users and bots. */
  readonly audience: readonly UserId[] | 'everyone';
  /** Restricts the event to queues whose client has the capability or, with `isLocked` false, lacks it. */
  readonly onlyFor?: { readonly capability: ClientCapability; readonly isLocked: boolean };
  /** Skips queues that get events of this type, because those events contain the same information. */
  readonly withheldWith?: string;
  /** Also publishes to queues that get the messages from all public channels, except the queues of these users. */
  readonly publicBut?: ReadonlySet<UserId>;
  /** Deletes the queues of the audience instead of publishing. */
  readonly endsQueues?: boolean;
  /** Chooses the event's form for each queue according to its client's options. `event` then only supplies the type. */
  readonly variantFor?: (queue: AskingQueue) => EventVariant | undefined;
}

/**
 * Events whose audience is selected from the owners of event queues. Reading all users instead would take 0.2 s per
 * edit in an organization of 100,000 users.
 */
export interface EventsForOwners extends QueueOwnersAsked {
  /** All types that `build` returns. */
  readonly types: readonly string[];
  /**
   * Builds the events for these owners. Runs in the operation, after its changes. On PostgreSQL, it may run again
   * before the commit, for users who registered their first queue in the meantime. Users who are not in `owners` are
   * dropped from the audiences. Not called if there are no owners.
   */
  build(owners: readonly QueueOwner[]): Promise<readonly PublishedEvent[]> | readonly PublishedEvent[];
}

/** The options of a queue that determine an event's form. */
export interface AskingQueue {
  readonly queueId: string;
  readonly userId: UserId;
  readonly appliesMarkdown: boolean;
  readonly makesAvatars: boolean;
  /** The narrow's terms as a JSON array. Null for all messages. */
  readonly narrow: string | null;
  can(capability: ClientCapability): boolean;
}

/** One form of an event, which may consist of several events. Written once for all queues with the same key. */
interface EventVariant {
  readonly key: string;
  write(): JsonObject | readonly JsonObject[];
}

export type EventsToPublish = readonly PublishedEvent[] | EventsForOwners;

/** Publishes events to their audiences, within the transaction of the change. */
export type ServerPublish = (transaction: ServerTransaction, events: EventsToPublish) => Promise<void>;
