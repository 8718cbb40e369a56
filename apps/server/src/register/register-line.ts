import { BoundedQueue } from '@waxwing/service/http';

/**
 * The line in which those wait who register an event queue. Each keeps a connection while it reads, of the ten that a
 * process has: the others are left for everything else.
 */
export function newRegisterLine(): BoundedQueue {
  return new BoundedQueue({
    maximumConcurrency: 3,
    maximumPending: 1000,
    maximumPendingPerClient: 20,
    what: 'event queue',
  });
}
