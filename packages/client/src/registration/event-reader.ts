import { ApiError, UnreachableError } from '../chat-api/api-error.js';
import type { ChatApi } from '../chat-api/chat-api.js';
import type { EventQueue, ServerEvent } from '../chat-api/event-queue.js';
import type { PhoneClock } from '../server-clock.js';

export interface EventReaderOptions {
  readonly api: ChatApi;
  readonly queue: Pick<EventQueue, 'queueId' | 'lastEventId'>;
  readonly clock: PhoneClock;
  /** When to stop waiting, in Unix milliseconds according to `clock`. */
  readonly deadline: number;
}

/**
 * Creates a function that returns the next events of a queue. The function returns `undefined` if no events arrive
 * before the deadline or if the server does not respond.
 */
export function createEventReader({ api, queue, clock, deadline }: EventReaderOptions) {
  let { lastEventId } = queue;
  return async (): Promise<readonly ServerEvent[] | undefined> => {
    const timeoutMilliseconds = deadline - clock();
    if (timeoutMilliseconds <= 0) return undefined;
    try {
      const events = await api.getEvents({ queueId: queue.queueId, lastEventId, timeoutMilliseconds });
      for (const { id } of events) lastEventId = Math.max(lastEventId, id);
      return events;
    } catch (error) {
      // Not a failure: the server has the registration, even if the client does not learn the outcome in time.
      if (error instanceof UnreachableError || error instanceof ApiError) return undefined;
      throw error;
    }
  };
}
