import { type JsonObject, stringifyJson } from '@waxwing/protocol';
import type { PublishEvent } from '@waxwing/server-push';
import type { Clock } from '@waxwing/service/lifecycle';
import type { Transaction } from 'kysely';
import type { ServerTables, ServerTransaction } from '../tables.js';
import {
  deleteQueue,
  type EventQueueRow,
  maximumEventsPerQueue,
  queueLifetimeMilliseconds,
  takeEventId,
} from './event-queue-store.js';
import type { QueueListeners } from './queue-listeners.js';

/** Puts events into the queues of users, within the transaction of what they tell of, and wakes who waits for them. */
export function createPublisher(queueListeners: QueueListeners, clock: Clock): PublishEvent<ServerTables> {
  return async (transaction, event, userIds) => {
    if (userIds.length === 0) return;
    const { db } = transaction;
    const queues = await db
      .selectFrom('event_queues')
      .selectAll()
      .where('user_id', 'in', userIds)
      .where('last_used_at', '>', clock() - queueLifetimeMilliseconds)
      .orderBy('queue_id')
      .execute();
    const text = stringifyJson(event);
    for (const queue of queues) {
      if (!wants(queue, event.type)) continue;
      await append(db, queue, text);
      await queueListeners.notify(transaction, queue.queue_id);
    }
  };
}

/** Events and who gets each. */
export type Publish = (
  transaction: ServerTransaction,
  published: readonly { readonly event: JsonObject; readonly audience: readonly number[] }[],
) => Promise<void>;

export function publishEach(publish: PublishEvent<ServerTables>): Publish {
  return async (transaction, published) => {
    for (const { event, audience } of published) await publish(transaction, event, audience);
  };
}

function wants({ event_types: types }: EventQueueRow, type: unknown): boolean {
  return types === null || (JSON.parse(types) as unknown[]).includes(type);
}

async function append(db: Transaction<ServerTables>, queue: EventQueueRow, event: string): Promise<void> {
  const eventId = await takeEventId(db, queue.queue_id);
  if (eventId === undefined) return;
  if (eventId - queue.acknowledged_event_id > maximumEventsPerQueue) {
    await deleteQueue(db, queue.user_id, queue.queue_id);
    return;
  }
  await db.insertInto('events').values({ queue_id: queue.queue_id, event_id: eventId, event }).execute();
}
