import { integerParameter } from '@waxwing/service/http';
import { z } from 'zod';
import {
  maximumQueueLifetimeMilliseconds,
  queueLifetimeMilliseconds,
} from '../platform/event-queues/event-queue-store.js';

/** The queue lifetime of phones, which sleep most of the time: a phone that wakes up twice a day keeps its queue. */
const mobileSeconds = 12 * 60 * 60;

const message = 'must be a non-negative number of seconds, or mobile';

/** The parameter `idle_queue_timeout`: seconds, or `mobile` for a lifetime that suits phones. */
export const idleQueueTimeout = z
  .union([z.enum(['mobile', '"mobile"']).transform(() => mobileSeconds), integerParameter], message)
  .refine((seconds) => seconds >= 0, message)
  .meta({
    openApi: {
      anyOf: [
        { type: 'integer', minimum: 0 },
        { type: 'string', const: 'mobile' },
      ],
    },
  });

/**
 * Returns the time in milliseconds after which a queue without requests expires: the client's choice, clamped to the
 * server's bounds.
 */
export function queueLifetime(asked: {
  readonly queue_lifespan_secs: number;
  readonly idle_queue_timeout?: number | undefined;
}): number {
  const seconds = asked.idle_queue_timeout ?? asked.queue_lifespan_secs;
  return Math.min(Math.max(seconds * 1000, queueLifetimeMilliseconds), maximumQueueLifetimeMilliseconds);
}
